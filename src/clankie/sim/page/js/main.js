// The page: its parts put together, and what each event of the stream changes. Must not know how a part is drawn.
import { messageActs, placeActs } from "./actions.js";
import { api } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { announce, toast, trying } from "./feedback.js";
import { History } from "./history.js";
import { listen, showKeys } from "./shortcuts.js";
import { channel, channelName, countUnread, emit, endTyping, findUnread, guildOf, holdsMessages, lastSeen, me, names, noteTyping, on, state, takeWorld, TYPE } from "./store.js";
import { Stream } from "./stream.js";
import { plainText } from "./text/markdown.js";
import "./theme.js";
import { Bots } from "./views/bots.js";
import { Composer } from "./views/composer.js";
import { Faults } from "./views/faults.js";
import { showFinder } from "./views/finder.js";
import { Header } from "./views/header.js";
import { MessageList } from "./views/list.js";
import { Members } from "./views/members.js";
import { authorName, spoken } from "./views/message.js";
import { closeMenu, showDialog } from "./views/overlay.js";
import { Panel } from "./views/panel.js";
import { People } from "./views/people.js";
import { Sidebar } from "./views/sidebar.js";
import { Way } from "./views/way.js";

const KEPT_PERSON = "clankie-sim:person";
const REST_AFTER_MS = 30_000;
const RELOAD_MS = 60; // changes of the world that come together are read once
const WORLD_EVENTS = /^(GUILD|CHANNEL|THREAD|USER|APPLICATION|SIM)_/;

const page = { history: new History(), openChannel, openWhenKnown, speakAs, showPins };
const acts = messageActs(page);
const places = placeActs(page);
page.list = new MessageList(page.history, acts);
page.composer = new Composer(acts);
page.way = new Way();
const header = new Header({ ...places, openChannel, newThread: () => acts.thread(null) });
const sidebar = new Sidebar({ ...places, openChannel });
const people = new People({ ...places, speakAs, openWindow });
const faults = new Faults();
page.panel = new Panel([
  { key: "way", label: "Way of the message", icon: "way", view: page.way },
  { key: "members", label: "Members", icon: "people", view: new Members({ ...places }) },
  { key: "bots", label: "Bots", icon: "bot", view: new Bots({ ...places }) },
  { key: "faults", label: "Faults", icon: "bolt", view: faults },
]);
const stream = new Stream({ event: heard, reset: () => refresh(), state: connection });

/* Where one is: `#as=<person>&at=<channel>&m=<message>` */

const wish = () => new URLSearchParams(location.hash.slice(1));

function remember({ messageId = null } = {}) {
  const at = new URLSearchParams({ as: state.meId });
  if (state.place.channelId) at.set("at", state.place.channelId);
  if (messageId) at.set("m", messageId);
  history.replaceState(null, "", `#${at}`);
}

let awaited = null; // a place that was just made and is not in the world we have yet

function openWhenKnown(id) {
  if (state.channels.has(id)) openChannel(id);
  else {
    awaited = id;
    reloadSoon();
  }
}

async function openChannel(id, messageId = null) {
  const place = state.channels.get(id);
  if (!place) {
    toast("That place is not open to you.", "Speak as somebody who may see it.", { kind: "info" });
    return;
  }
  const seen = lastSeen(id);
  state.place.channelId = id;
  closeDrawer();
  page.composer.enter(`${state.meId}:${id}`);
  remember({ messageId });
  emit("place");
  if (place.type === TYPE.forum) {
    page.history.clear();
    drawForum();
    focusForum();
    return;
  }
  if (!holdsMessages(place)) {
    page.history.clear();
    page.list.showEmpty(channelName(place), "Nothing is written here.");
    return;
  }
  const came = await trying(() => page.history.open(id, state.meId, messageId));
  if (came === false) return;
  if (!came) {
    page.list.showEmpty(channelName(place), "Its messages could not be read.");
    return;
  }
  page.list.show({ at: messageId, unreadAfter: seen });
  acts.readCommands(place);
  if (!messageId && !matchMedia("(pointer: coarse)").matches) page.composer.focus();
}

function drawForum() {
  const feed = document.querySelector(".feed");
  const held = feed.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  fill(feed, header.forum(channel(), guildOf()));
  document.getElementById("to-latest").hidden = true;
  if (held) feed.querySelector(`[data-key="${held}"]`)?.focus();
}

const focusForum = () => document.querySelector(".forum button")?.focus();

/* Who one is */

async function speakAs(id) {
  const here = state.place.channelId;
  localStorage.setItem(KEPT_PERSON, id);
  await enter(id, here);
  announce(`You speak as ${me()?.global_name ?? "somebody else"}`);
}

function openWindow(id) {
  const at = new URLSearchParams({ as: id });
  if (state.place.channelId) at.set("at", state.place.channelId);
  open(`${location.pathname}#${at}`, "_blank", "noopener");
}

async function enter(id, wanted, messageId = null) {
  stream.close();
  const world = await trying(() => api.get("/world", { as: id ?? undefined }));
  if (!world) {
    connection(false);
    setTimeout(() => enter(id, wanted, messageId), 2_000);
    return;
  }
  connection(true);
  state.typing.clear();
  takeWorld(world);
  findUnread();
  stream.open(world.me.id, world.eventId);
  const target = state.channels.has(wanted) ? wanted : firstPlace();
  if (target) await openChannel(target, target === wanted ? messageId : null);
  else {
    state.place.channelId = null;
    remember();
    emit("place");
    page.list.showEmpty("No server yet", "Make a server, or be added to one: “New server” is in the navigation.");
  }
}

const firstPlace = () => [...state.channels.values()].find((place) => place.type === TYPE.text)?.id ?? [...state.channels.keys()][0];

/* The stream */

let reloading = null;

function reloadSoon() {
  clearTimeout(reloading);
  reloading = setTimeout(reloadWorld, RELOAD_MS);
}

async function reloadWorld() {
  const id = state.meId;
  let world;
  try {
    world = await api.get("/world", { as: id });
  } catch {
    return; // the stream breaks too, and reads everything anew when it is back
  }
  if (id !== state.meId) return;
  takeWorld(world);
  faults.load();
  if (awaited && state.channels.has(awaited)) {
    const target = awaited;
    awaited = null;
    await openChannel(target);
    return;
  }
  const place = channel();
  if (!place && state.place.channelId) {
    toast("This place is gone, or not open to you any more.", "You are in another one now.", { kind: "info" });
    await enter(state.meId, null);
  } else if (place?.type === TYPE.forum) drawForum();
}

/** Everything anew, where one is. What was being read stays in view. */
async function refresh() {
  await reloadWorld();
  const { channelId } = state.place;
  if (!channelId || page.history.channelId !== channelId) return;
  const reading = page.list.stuck ? null : page.history.messages.at(Math.floor(page.history.messages.length / 2))?.id;
  const came = await trying(() => page.history.open(channelId, state.meId, reading));
  if (came) page.list.show({ at: reading });
}

let away = false;

function connection(connected) {
  state.connected = connected;
  const banner = document.getElementById("banner");
  if (connected) {
    if (away) announce("Connected again");
    away = false;
    banner.hidden = true;
    return;
  }
  if (away) return;
  away = true;
  banner.hidden = false;
  fill(banner, h("span", {}, "The simulator does not answer. This page tries again by itself; see whether ", h("code", { text: "clankie sim" }), " still runs."),
    h("button", { type: "button", class: "button small", text: "Try now", on: { click: () => stream.hurry() } }));
}

const EVENTS = {
  MESSAGE_CREATE(message) {
    endTyping(message.channel_id, message.author.id);
    const place = state.channels.get(message.channel_id);
    if (place) place.last_message_id = message.id;
    else reloadSoon(); // the first message of a conversation that was not open yet
    const here = message.channel_id === page.history.channelId;
    if (message.author.id !== state.meId && !(here && document.hasFocus() && page.list.stuck)) countUnread(message);
    if (here) page.list.append(message);
    if (message.author.id !== state.meId && (here || state.unread.get(message.channel_id)?.mentioned)) {
      announce(here ? spoken(message) : `In ${channelName(place)}: ${spoken(message)}`);
    }
    if (here && asksABot(message)) page.way.follow(message);
    else if (here) page.way.stir();
  },
  MESSAGE_UPDATE(change) {
    const { reactions, ...rest } = change; // whose reactions they are depends on the reader; their own events tell
    if (page.history.update(rest)) page.list.redraw(change.id);
  },
  MESSAGE_DELETE: ({ id }) => page.list.remove(id),
  MESSAGE_DELETE_BULK: ({ ids }) => ids.forEach((id) => page.list.remove(id)),
  MESSAGE_REACTION_ADD: (event) => react(event, 1),
  MESSAGE_REACTION_REMOVE: (event) => react(event, -1),
  MESSAGE_REACTION_REMOVE_ALL: ({ message_id: id }) => clearReactions(id, () => false),
  MESSAGE_REACTION_REMOVE_EMOJI: ({ message_id: id, emoji }) => clearReactions(id, (each) => each.emoji.name !== emoji.name || each.emoji.id !== emoji.id),
  TYPING_START: ({ channel_id: channelId, user_id: userId }) => noteTyping(channelId, userId),
};

function heard(name, data) {
  if (EVENTS[name]) EVENTS[name](data);
  else if (WORLD_EVENTS.test(name)) reloadSoon();
}

function react({ message_id: messageId, emoji, user_id: userId }, step) {
  if (page.history.react(messageId, emoji, userId, state.meId, step)) page.list.redraw(messageId);
}

function clearReactions(id, keep) {
  const message = page.history.find(id);
  if (!message) return;
  message.reactions = (message.reactions ?? []).filter(keep);
  page.list.redraw(id);
}

/** Whether a bot is addressed, so that its way is worth showing. */
function asksABot(message) {
  if (message.author.bot || message.webhook_id) return false;
  const place = state.channels.get(message.channel_id);
  if (place?.type === TYPE.dm) return place.recipients.some((id) => state.users.get(id)?.bot);
  return message.mentions.some((user) => user.bot) || message.mention_roles.some((id) => state.roles.get(id)?.managed);
}

/* Pins */

async function showPins() {
  const found = await trying(() => api.get(`/channels/${state.place.channelId}/pins`, { as: state.meId }));
  if (!found) return;
  const guild = guildOf();
  showDialog("Pinned messages", (close) => (found.messages.length
    ? h("ul", { class: "pins" }, found.messages.map((message) => h("li", {}, h("button", { type: "button", class: "post", on: { click: () => { close(); page.list.jump(message.id); } } },
      h("strong", { text: authorName(message, guild) }), h("span", { text: plainText(message.content ?? "", names(guild)) || "a message without text" })))))
    : h("p", { class: "muted", text: "Nothing is pinned here. “Pin” is in a message’s menu." })));
}

/* The drawer, on narrow screens */

const drawer = document.getElementById("drawer");
const scrim = document.getElementById("scrim");
fill(drawer, icon("menu"));

function openDrawer() {
  document.body.classList.add("drawer-open");
  scrim.hidden = false;
  document.getElementById("main").inert = true; // what lies behind is not reached by Tab either
  drawer.setAttribute("aria-expanded", "true");
  document.querySelector("#places [aria-current], #places button")?.focus();
}

function closeDrawer() {
  if (!document.body.classList.contains("drawer-open")) return false;
  document.body.classList.remove("drawer-open");
  scrim.hidden = true;
  document.getElementById("main").inert = false;
  drawer.setAttribute("aria-expanded", "false");
  drawer.focus();
  return true;
}

drawer.addEventListener("click", () => (document.body.classList.contains("drawer-open") ? closeDrawer() : openDrawer()));
scrim.addEventListener("click", closeDrawer);

/* Keys */

function step(by) {
  const buttons = [...document.querySelectorAll("#places .place")];
  const at = buttons.findIndex((button) => button.dataset.key === state.place.channelId);
  const to = buttons[(at + by + buttons.length) % buttons.length];
  if (to) openChannel(to.dataset.key);
}

const keys = document.getElementById("keys");
fill(keys, icon("keys"));
keys.title = "Keys (Ctrl /)";
keys.addEventListener("click", showKeys);
listen({
  find: () => showFinder(openChannel),
  people: () => people.open(),
  latest: () => page.list.toLatest(),
  keys: showKeys,
  step,
  nextUnread: () => { const next = [...state.unread.keys()].find((id) => state.channels.has(id)); if (next) openChannel(next); },
  escape: () => { if (!closeMenu() && !closeDrawer() && !(innerWidth <= 1100 && page.panel.close())) page.composer.focus(); },
});
fill(document.getElementById("to-latest"), icon("down"), h("span", { text: "Newest" }));

addEventListener("hashchange", () => {
  const at = wish();
  if (at.get("as") && at.get("as") !== state.meId) enter(at.get("as"), at.get("at"), at.get("m"));
  else if (at.get("at") && (at.get("at") !== state.place.channelId || at.get("m"))) openChannel(at.get("at"), at.get("m"));
});
addEventListener("focus", () => { if (page.list.stuck && page.history.channelId) page.list.toLatest(); });
addEventListener("online", () => stream.hurry());

/* A browser grants six connections to one address: a window that nobody sees lets its own go, and catches up later. */
let resting = null;
document.addEventListener("visibilitychange", () => {
  clearTimeout(resting);
  if (document.hidden) resting = setTimeout(() => stream.close(), REST_AFTER_MS);
  else stream.hurry();
});
on("world", () => { document.body.dataset.ready = "true"; });

const first = wish();
sidebar.draw();
enter(first.get("as") ?? localStorage.getItem(KEPT_PERSON), first.get("at"), first.get("m"));
