// The control API. Owns requests and how a refusal is told. Must not know what is shown.

const BASE = "/sim/api/v1";

/** What the simulator, or the way to it, refused. `next` says what the reader does now. */
export class Problem extends Error {
  constructor(message, next, status = 0) {
    super(message);
    this.next = next;
    this.status = status;
  }
}

export const api = {
  get: (path, query) => request("GET", path, { query }),
  post: (path, body) => request("POST", path, { body }),
  put: (path, body) => request("PUT", path, { body }),
  patch: (path, body) => request("PATCH", path, { body }),
  delete: (path, query) => request("DELETE", path, { query }),
  upload: (path, form) => request("POST", path, { form }),
  eventsUrl: (as) => `${BASE}/events?as=${encodeURIComponent(as)}`,
};

async function request(method, path, { query, body, form } = {}) {
  const url = new URL(BASE + path, location.origin);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) url.searchParams.set(name, value);
  }
  const headers = {};
  if (method !== "GET") headers["x-clankie-sim"] = "1"; // no page elsewhere can send it without asking
  if (body !== undefined) headers["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(url, { method, headers, body: form ?? (body === undefined ? undefined : JSON.stringify(body)) });
  } catch {
    throw new Problem("The simulator does not answer.", "See whether `clankie sim` still runs in its terminal.");
  }
  if (answer.status === 204) return null;
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  throw new Problem(told.message ?? `The simulator refused (${answer.status}).`, told.next ?? "Reload the page and try again.", answer.status);
}
