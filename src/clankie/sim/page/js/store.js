// What the page knows: the world as one person sees it, where that person is, and what is unread.
//
// Owns this state and tells whoever listens when a part of it changed. Must not know elements or requests.

const listeners = new Map();

/** Hear of a topic: world, place, unread, typing, draft, panel, stream. */
export function on(topic, listener) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(listener);
}

export function emit(topic, detail) {
  for (const listener of listeners.get(topic) ?? []) listener(detail);
}

export const TYPE = { text: 0, dm: 1, voice: 2, category: 4, announcement: 5, announcementThread: 10, thread: 11, privateThread: 12, forum: 15 };
const THREADS = new Set([10, 11, 12]);
export const isThread = (channel) => THREADS.has(channel?.type);
const WRITABLE = new Set([0, 1, 2, 5, 10, 11, 12]);
export const holdsMessages = (channel) => WRITABLE.has(channel?.type);

export const state = {
  meId: null,
  world: null, // the snapshot as the control API gave it
  users: new Map(),
  guilds: new Map(),
  channels: new Map(), // every visible one, DMs and threads among them
  roles: new Map(),
  place: { channelId: null },
  unread: new Map(), // channel id -> {count, mentioned}
  commands: new Map(), // channel id -> the commands one can use there
  typing: new Map(), // channel id -> Map(user id -> when it ends, ms)
  connected: true,
};

export const me = () => state.users.get(state.meId) ?? null;
export const channel = (id = state.place.channelId) => state.channels.get(id) ?? null;
export const guildOf = (place = channel()) => (place?.guild_id ? state.guilds.get(place.guild_id) ?? null : null);
export const can = (what, place = channel()) => place?.can?.includes(what) ?? false;

export function takeWorld(world) {
  state.world = world;
  state.meId = world.me.id;
  state.users = new Map(world.users.map((user) => [user.id, user]));
  state.guilds = new Map(world.guilds.map((guild) => [guild.id, guild]));
  state.roles = new Map(world.guilds.flatMap((guild) => guild.roles.map((role) => [role.id, role])));
  state.channels = new Map();
  for (const guild of world.guilds) for (const item of guild.channels) state.channels.set(item.id, item);
  for (const item of world.dms) state.channels.set(item.id, item);
  emit("world");
}

export function userName(id, guild = guildOf()) {
  const nick = guild?.members.find((member) => member.user_id === id)?.nick;
  const user = state.users.get(id);
  return nick || user?.global_name || user?.username || "someone unknown";
}

export function channelName(place) {
  if (!place) return "an unknown place";
  if (place.type !== TYPE.dm) return place.name;
  const others = place.recipients.filter((id) => id !== state.meId);
  return others.map((id) => userName(id, null)).join(", ") || "You";
}

/** What markdown asks for. */
export function names(guild, openChannel = () => {}) {
  const member = guild?.members.find((item) => item.user_id === state.meId);
  return {
    me: state.meId,
    user: (id) => userName(id, guild),
    role: (id) => state.roles.get(id)?.name ?? "a role that is gone",
    hasRole: (id) => member?.roles.includes(id) ?? false,
    channel: (id) => (state.channels.has(id) ? channelName(state.channels.get(id)) : "no access"),
    openChannel,
  };
}

/** Whether a message addresses the reader. */
export function mentionsMe(message) {
  if (message.author.id === state.meId) return false;
  if (message.mention_everyone || message.mentions.some((user) => user.id === state.meId)) return true;
  const place = state.channels.get(message.channel_id);
  if (place?.type === TYPE.dm) return true;
  const member = guildOf(place)?.members.find((item) => item.user_id === state.meId);
  return message.mention_roles.some((role) => member?.roles.includes(role));
}

/* Unread: what came in since a place was last looked at. Kept by the browser, apart for each person. */

const seenKey = () => `clankie-sim:seen:${state.meId}`;

export function lastSeen(channelId) {
  try {
    return JSON.parse(localStorage.getItem(seenKey()) ?? "{}")[channelId] ?? null;
  } catch {
    return null;
  }
}

export function markSeen(channelId, messageId) {
  if (messageId) {
    try {
      const seen = JSON.parse(localStorage.getItem(seenKey()) ?? "{}");
      if (!seen[channelId] || BigInt(seen[channelId]) < BigInt(messageId)) seen[channelId] = messageId;
      localStorage.setItem(seenKey(), JSON.stringify(seen));
    } catch { /* a browser that keeps nothing shows everything as read after a reload */ }
  }
  if (state.unread.delete(channelId)) emit("unread");
}

export function countUnread(message) {
  const known = state.unread.get(message.channel_id) ?? { count: 0, mentioned: false };
  state.unread.set(message.channel_id, { count: known.count + 1, mentioned: known.mentioned || mentionsMe(message) });
  emit("unread");
}

/** Places whose newest message is newer than what was seen of them. */
export function findUnread() {
  state.unread.clear();
  for (const [id, place] of state.channels) {
    const seen = lastSeen(id);
    if (seen && place.last_message_id && BigInt(place.last_message_id) > BigInt(seen)) {
      state.unread.set(id, { count: 0, mentioned: false }); // how many is not known until they are read
    }
  }
  emit("unread");
}

/* Typing. */

export const TYPING_MS = 10_000; // Discord shows it for ten seconds

export function noteTyping(channelId, userId, now = Date.now()) {
  if (userId === state.meId) return;
  if (!state.typing.has(channelId)) state.typing.set(channelId, new Map());
  state.typing.get(channelId).set(userId, now + TYPING_MS);
  emit("typing");
}

export function endTyping(channelId, userId) {
  if (state.typing.get(channelId)?.delete(userId)) emit("typing");
}

export function whoTypes(channelId, now = Date.now()) {
  const there = state.typing.get(channelId) ?? new Map();
  for (const [userId, until] of there) if (until <= now) there.delete(userId);
  return [...there.keys()];
}
