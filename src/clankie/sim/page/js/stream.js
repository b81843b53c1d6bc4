// The stream of events. Owns opening it, hearing that it broke, and opening it again until it holds.
//
// The server names each event; a stream that comes back tells the last name it heard and is sent what it missed, or
// is told `reset` when that is too long ago. Must not know what an event means.
import { api } from "./api.js";

const FIRST_RETRY_MS = 400;
const LAST_RETRY_MS = 5_000;
const SILENCE_MS = 25_000; // the server says something every ten seconds

export class Stream {
  /** @param {object} hears `event(name, data)`, `reset()`, `state(connected)` */
  constructor(hears) {
    this.hears = hears;
    this.source = null;
    this.as = null;
    this.lastId = "";
    this.retry = FIRST_RETRY_MS;
    this.timer = null;
    this.silence = null;
  }

  open(as, since) {
    this.close();
    this.as = as;
    this.lastId = since ?? "";
    this.retry = FIRST_RETRY_MS;
    this.#connect();
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.silence);
    this.source?.close();
    this.source = null;
  }

  /** Try at once, if it is waiting to. */
  hurry() {
    if (this.source || this.as === null) return;
    clearTimeout(this.timer);
    this.#connect();
  }

  #connect() {
    const source = new EventSource(`${api.eventsUrl(this.as)}&since=${encodeURIComponent(this.lastId)}`);
    this.source = source;
    const heard = () => {
      clearTimeout(this.silence);
      this.silence = setTimeout(() => this.#broke(source), SILENCE_MS);
    };
    heard();
    source.addEventListener("open", () => {
      this.retry = FIRST_RETRY_MS;
      heard();
      this.hears.state(true);
    });
    source.addEventListener("error", () => this.#broke(source));
    source.addEventListener("alive", heard);
    source.addEventListener("reset", (event) => {
      heard();
      this.lastId = event.lastEventId;
      this.hears.reset();
    });
    source.addEventListener("dispatch", (event) => {
      heard();
      this.lastId = event.lastEventId;
      const { t, d } = JSON.parse(event.data);
      this.hears.event(t, d);
    });
  }

  #broke(source) {
    if (source !== this.source) return;
    clearTimeout(this.silence);
    source.close();
    this.source = null;
    this.hears.state(false);
    this.timer = setTimeout(() => this.#connect(), this.retry);
    this.retry = Math.min(this.retry * 2, LAST_RETRY_MS);
  }
}
