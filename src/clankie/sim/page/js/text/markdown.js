// Discord's markdown, as a tree. A pure function from a text to plain objects: it builds no element and knows no user.
//
// Every construct is found by scanning for its closing mark once, and what does not close is text, so the work grows
// with the length of the text and any text has a tree.

const MAX_DEPTH = 12; // nested marks beyond this are shown as typed
const FENCE = /^```(?:([A-Za-z0-9_+#.-]{1,32})\n)?([\s\S]*?)```/;
const URL_AT = /^https?:\/\/[^\s<>]{1,2000}/i;
const TOKENS = [
  [/^<@!?(\d{1,20})>/, (m) => ({ type: "user", id: m[1] })],
  [/^<@&(\d{1,20})>/, (m) => ({ type: "role", id: m[1] })],
  [/^<#(\d{1,20})>/, (m) => ({ type: "channel", id: m[1] })],
  [/^<\/([^:>\n]{1,100}):(\d{1,20})>/, (m) => ({ type: "command", name: m[1], id: m[2] })],
  [/^<a?:(\w{2,32}):(\d{1,20})>/, (m) => ({ type: "emoji", name: m[1], id: m[2] })],
  [/^<t:(-?\d{1,13})(?::([tTdDfFR]))?>/, (m) => ({ type: "time", seconds: Number(m[1]), style: m[2] ?? "f" })],
  [/^<(https?:\/\/[^\s<>]{1,2000})>/i, (m) => ({ type: "link", url: m[1], children: [text(m[1])] })],
];
// Longest mark first: ** before *.
const MARKS = [["***", "strong-em"], ["**", "strong"], ["__", "underline"], ["~~", "strike"], ["||", "spoiler"], ["*", "em"], ["_", "em"]];
const ESCAPABLE = /[\\`*_~|<>#\-[\]()@:!&.+/]/;
const WORD = /[\p{L}\p{N}_]/u;

const text = (value) => ({ type: "text", value });

/** The tree of a message: a list of blocks. */
export function parse(source) {
  return blocks(source, 0);
}

function blocks(source, depth) {
  const found = [];
  let at = 0;
  let plain = [];
  const flush = () => {
    if (plain.length) found.push({ type: "paragraph", children: inline(plain.join("\n"), depth) });
    plain = [];
  };
  while (at < source.length) {
    const rest = source.slice(at);
    const fence = rest.startsWith("```") ? FENCE.exec(rest) : null;
    if (fence && fence[2].trim()) {
      flush();
      found.push({ type: "code-block", language: fence[1] ?? "", value: fence[2].replace(/^\n|\n$/g, "") });
      at += fence[0].length;
      if (source[at] === "\n") at += 1;
      continue;
    }
    let end = lineEnd(source, at);
    // A fence that opens inside a line ends the line there.
    const opens = source.indexOf("```", at);
    if (opens > at && opens < end && FENCE.exec(source.slice(opens))?.[2].trim()) end = opens;
    const line = source.slice(at, end);
    const next = source[end] === "\n" ? end + 1 : end;
    if (depth === 0 && line.startsWith(">>> ")) {
      flush();
      found.push({ type: "quote", children: blocks(source.slice(at + 4), depth + 1) });
      return found;
    }
    if (depth === 0 && (line.startsWith("> ") || line === ">")) {
      flush();
      const quoted = [];
      while (at < source.length && (source.startsWith("> ", at) || source.slice(at, lineEnd(source, at)) === ">")) {
        const stop = lineEnd(source, at);
        quoted.push(source.slice(at + 2, stop));
        at = Math.min(stop + 1, source.length);
      }
      found.push({ type: "quote", children: blocks(quoted.join("\n"), depth + 1) });
      continue;
    }
    const heading = /^(#{1,3}) +(\S.*)$/.exec(line);
    const small = /^-# +(\S.*)$/.exec(line);
    const item = /^( {0,8})(?:([-*])|(\d{1,6})\.) +(\S.*)$/.exec(line);
    if (heading) {
      flush();
      found.push({ type: "heading", level: heading[1].length, children: inline(heading[2], depth + 1) });
    } else if (small) {
      flush();
      found.push({ type: "small", children: inline(small[1], depth + 1) });
    } else if (item) {
      flush();
      const entry = { indent: item[1].length >> 1, children: inline(item[4], depth + 1) };
      const ordered = item[3] !== undefined;
      const last = found.at(-1);
      if (last?.type === "list" && last.ordered === ordered && last.open) last.items.push(entry);
      else found.push({ type: "list", ordered, start: ordered ? Number(item[3]) : 1, items: [entry], open: true });
      at = next;
      continue;
    } else {
      plain.push(line);
      if (end < source.length && source[end] !== "\n") flush();
    }
    const before = found.at(-1);
    if (before?.type === "list") before.open = false;
    at = next;
  }
  flush();
  return found;
}

function lineEnd(source, at) {
  const end = source.indexOf("\n", at);
  return end < 0 ? source.length : end;
}

/** The tree of a part of a line. */
export function inline(source, depth = 0) {
  const found = [];
  const missing = new Set(); // marks known not to close any more, so that no mark is searched for twice
  let plain = "";
  let at = 0;
  const push = (node) => {
    if (plain) found.push(text(plain));
    plain = "";
    found.push(node);
  };
  while (at < source.length) {
    const character = source[at];
    const rest = () => source.slice(at, at + 2100);
    if (character === "\\" && at + 1 < source.length && ESCAPABLE.test(source[at + 1])) {
      plain += source[at + 1];
      at += 2;
      continue;
    }
    if (character === "`") {
      const ticks = /^`+/.exec(rest())[0];
      const close = closing(source, ticks, at + ticks.length);
      if (close > 0) {
        push({ type: "code", value: trimmed(source.slice(at + ticks.length, close)) });
        at = close + ticks.length;
      } else {
        plain += ticks;
        at += ticks.length;
      }
      continue;
    }
    if (character === "<") {
      const token = TOKENS.map(([pattern, make]) => [pattern.exec(rest()), make]).find(([match]) => match);
      if (token) {
        push(token[1](token[0]));
        at += token[0][0].length;
        continue;
      }
    }
    if (character === "@") {
      const everyone = /^@(everyone|here)/.exec(rest());
      if (everyone) {
        push({ type: "everyone", value: everyone[0] });
        at += everyone[0].length;
        continue;
      }
    }
    if (character === "h" || character === "H") {
      const url = !WORD.test(source[at - 1] ?? " ") && URL_AT.exec(rest());
      if (url) {
        const address = withoutTail(url[0]);
        push({ type: "link", url: address, children: [text(address)] });
        at += address.length;
        continue;
      }
    }
    if (character === "[" && depth < MAX_DEPTH) {
      const link = /^\[([^[\]\n]{1,500})\]\(<?(https?:\/\/[^\s<>()]{1,2000})>?\)/i.exec(rest());
      if (link) {
        push({ type: "link", url: link[2], children: inline(link[1], MAX_DEPTH) });
        at += link[0].length;
        continue;
      }
    }
    const mark = depth < MAX_DEPTH && MARKS.find(([sign]) => source.startsWith(sign, at) && !missing.has(sign));
    if (mark) {
      const [sign, type] = mark;
      const inner = at + sign.length;
      const close = closingMark(source, sign, inner, at);
      if (close > inner) {
        const children = inline(source.slice(inner, close), depth + 1);
        push(type === "strong-em" ? { type: "strong", children: [{ type: "em", children }] } : { type, children });
        at = close + sign.length;
        continue;
      }
      if (close === -1) missing.add(sign);
    }
    plain += character;
    at += 1;
  }
  if (plain) found.push(text(plain));
  return found;
}

/** Where as many backticks as opened stand alone again; -1 when nowhere. */
function closing(source, ticks, from) {
  let at = source.indexOf(ticks, from);
  while (at >= 0) {
    let end = at;
    while (source[end] === "`") end += 1;
    if (end - at === ticks.length) return at;
    at = source.indexOf(ticks, end);
  }
  return -1;
}

/** Where a mark closes; -1 when no such mark follows at all, -2 when it may not open here. */
function closingMark(source, sign, from, opened) {
  if (/\s/.test(source[from] ?? " ") && sign !== "||") return -2;
  if (sign === "_" && WORD.test(source[opened - 1] ?? " ")) return -2; // snake_case
  let at = from;
  let seen = false;
  while (at < source.length) {
    if (source[at] === "\\") { at += 2; continue; }
    if (source[at] === "`") {
      let end = at;
      while (source[end] === "`") end += 1;
      const close = closing(source, source.slice(at, end), end);
      at = close > 0 ? close + (end - at) : end;
      continue;
    }
    if (source.startsWith(sign, at)) {
      seen = true;
      let end = at;
      while (source[end] === sign[0]) end += 1;
      const run = end - at;
      const fits = sign.length === 1 ? run === 1 || run === 3 : run >= sign.length;
      const place = sign.length === 1 && run === 3 ? at + 2 : end - sign.length;
      const wordGoesOn = sign === "_" && WORD.test(source[end] ?? " ");
      if (fits && !wordGoesOn && place > from && (sign === "||" || !/\s/.test(source[place - 1]))) return place;
      at = end;
      continue;
    }
    at += 1;
  }
  return seen ? -2 : -1;
}

/** One space on each side of code is padding, as in ``` `` `a` `` ```. */
function trimmed(value) {
  return value.length > 2 && value.startsWith(" ") && value.endsWith(" ") && value.trim() ? value.slice(1, -1) : value;
}

/** An address at the end of a sentence does not own the sentence's full stop. */
function withoutTail(url) {
  let end = url.length;
  for (;;) {
    const last = url[end - 1];
    if (/[.,:;!?'"*_~|]/.test(last)) end -= 1;
    else if (last === ")" && count(url, "(", end) < count(url, ")", end)) end -= 1;
    else return url.slice(0, end);
  }
}

function count(value, character, end) {
  let found = 0;
  for (let at = 0; at < end; at += 1) if (value[at] === character) found += 1;
  return found;
}

/** A message as one line of plain text, for a reply's preview and for screen readers. */
export function plainText(source, names) {
  const words = (nodes) => nodes.map((node) => {
    switch (node.type) {
      case "text": return node.value;
      case "code": case "code-block": return node.value;
      case "everyone": return node.value;
      case "spoiler": return "(spoiler)";
      case "user": return `@${names.user(node.id)}`;
      case "role": return `@${names.role(node.id)}`;
      case "channel": return `#${names.channel(node.id)}`;
      case "emoji": return `:${node.name}:`;
      case "command": return `/${node.name}`;
      case "time": return new Date(node.seconds * 1000).toLocaleString();
      case "list": return node.items.map((item) => words(item.children)).join(", ");
      default: return words(node.children ?? []);
    }
  }).join("");
  return parse(source.slice(0, 600)).map((block) => words([block])).join(" ").replace(/\s+/g, " ").trim();
}
