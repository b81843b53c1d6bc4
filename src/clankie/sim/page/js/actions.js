// What can be done with messages and places, as requests to the control API. Owns these; draws nothing itself.
import { api } from "./api.js";
import { announce, toast, trying } from "./feedback.js";
import { pickEmoji } from "./emoji.js";
import { can, channel, channelName, guildOf, isThread, state, TYPE, userName } from "./store.js";
import { fromMarks, toMarks } from "./text/mentions.js";
import { showModal } from "./views/modal.js";
import { askForm, showMenu } from "./views/overlay.js";

/** @param {object} page `composer`, `list`, `way`, `history`, `openChannel(id, messageId)`, `panel` */
export function messageActs(page) {
  const as = () => state.meId;
  const path = (message) => `/channels/${message.channel_id}/messages/${message.id}`;

  async function interacted(work) {
    const done = await trying(work);
    if (!done) return false;
    if (done.state === "open") {
      toast("The bot did not answer within three seconds.", "See whether it is connected, under Bots, and what it logged.");
      return false;
    }
    if (done.modal) {
      showModal(done.modal, (components) => interacted(() => api.post(`/interactions/${done.id}/form`, { as: as(), components })));
    }
    return true;
  }

  const acts = {
    openChannel: (id) => page.openChannel(id),
    jump: (id) => page.list.jump(id),
    reply: (message) => page.composer.reply(message),
    edit: (message) => page.list.edit(message.id),
    endEdit: () => page.list.edit(null),
    async saveEdit(message, content) {
      const text = toMarks(content.trim(), channel(), guildOf());
      if (!text && !message.attachments?.length) { acts.remove(message); return; }
      if (await trying(() => api.patch(path(message), { as: as(), content: text }))) page.list.edit(null);
    },
    editLast() {
      const mine = page.history.messages.filter((message) => message.author.id === as() && !message.webhook_id && [0, 19].includes(message.type));
      if (mine.length) acts.edit(mine.at(-1));
    },
    remove(message) {
      askForm({
        title: "Delete this message?", about: "It is gone for everyone, and bots are told.", fields: [], submit: "Delete", danger: true,
        run: async () => (await trying(() => api.delete(path(message), { as: as() }))) !== undefined,
      });
    },
    react: (message, emoji, wanted) => trying(() => (wanted ? api.put : remove)(`${path(message)}/reactions/${encodeURIComponent(emoji.id ? `${emoji.name}:${emoji.id}` : emoji.name)}`, { as: as() })),
    pickReaction: (message, anchor) => pickEmoji(anchor, (character) => acts.react(message, { name: character }, true)),
    pin: (message, wanted) => trying(() => (wanted ? api.put : remove)(`${path(message)}/pin`, { as: as() })),
    thread(message) {
      askForm({
        title: message ? "Thread from this message" : "New thread", submit: "Start", fields: [{ name: "name", label: "Name", required: true, maxlength: 100, value: message ? fromMarks(message.content, channel(), guildOf()).slice(0, 60) : "" }],
        run: async ({ name }) => {
          const made = await trying(() => api.post(`/channels/${channel().id}/threads`, { as: as(), name, messageId: message?.id ?? null }));
          if (made) page.openWhenKnown(made.id);
          return Boolean(made);
        },
      });
    },
    forward(message) {
      const places = [...state.channels.values()].filter((place) => ![TYPE.category, TYPE.forum, TYPE.voice].includes(place.type) && can("send", place));
      askForm({
        title: "Forward to", submit: "Forward", fields: [{ name: "to", label: "Place", type: "choice", options: places.map((place) => [place.id, `${channelName(place)}${guildOf(place) ? `, ${guildOf(place).name}` : ""}`]) }],
        run: async ({ to }) => {
          const sent = await trying(() => api.post(`/channels/${to}/messages`, { as: as(), forward: { channelId: message.channel_id, messageId: message.id } }));
          if (sent) announce("Forwarded");
          return Boolean(sent);
        },
      });
    },
    async component(message, item, values, element) {
      element.disabled = true;
      await interacted(() => api.post(`${path(message)}/components`, { as: as(), customId: item.custom_id, componentType: item.type, values }));
      if (element.isConnected) element.disabled = item.disabled ?? false;
    },
    useCommand: (command, options) => interacted(() => api.post(`/channels/${channel().id}/commands/${command.id}`, { as: as(), options })),
    async readCommands(place = channel()) {
      if (!can("commands", place)) return;
      const found = await trying(() => api.get(`/channels/${place.id}/commands`, { as: as() }));
      if (found) state.commands.set(place.id, found.commands);
    },
    complete: async (command, options) => (await trying(() => api.post(`/channels/${channel().id}/commands/${command.id}/suggestions`, { as: as(), options })))?.choices,
    menu(message, anchor) {
      const mine = message.author.id === as();
      const place = channel();
      const plain = [0, 19].includes(message.type);
      const ephemeral = (message.flags & 64) !== 0;
      showMenu(anchor, "Act on this message", [
        can("send") && !ephemeral && { label: "Reply", icon: "reply", run: () => acts.reply(message) },
        can("react") && !ephemeral && { label: "Add a reaction", icon: "smile", run: () => acts.pickReaction(message, anchor) },
        mine && plain && { label: "Edit", icon: "edit", run: () => acts.edit(message) },
        can("thread") && !message.thread && !isThread(place) && place.guild_id && plain && !ephemeral && { label: "Start a thread", icon: "thread", run: () => acts.thread(message) },
        plain && !ephemeral && { label: "Forward", icon: "forward", run: () => acts.forward(message) },
        (can("pin") || place.type === TYPE.dm) && !ephemeral && { label: message.pinned ? "Unpin" : "Pin", icon: "pin", run: () => acts.pin(message, !message.pinned) },
        { label: "Show its way", icon: "way", run: () => { page.way.follow(message); page.panel.show("way"); } },
        { label: "Copy text", icon: "copy", run: () => copy(message.content ?? "") },
        { label: "Copy id", icon: "copy", run: () => copy(message.id) },
        ...((mine || can("manage")) && !ephemeral ? [null, { label: "Delete", icon: "trash", danger: true, run: () => acts.remove(message) }] : []),
      ].filter((item) => item !== false && item !== undefined));
    },
    async send({ content, files, replyTo, ping }) {
      const place = channel();
      const body = { as: as(), content, replyTo, ping };
      if (!files.length) return Boolean(await trying(() => api.post(`/channels/${place.id}/messages`, body)));
      const form = new FormData();
      form.append("message", JSON.stringify(body));
      for (const file of files) form.append("files", file, file.name);
      return Boolean(await trying(() => api.upload(`/channels/${place.id}/uploads`, form)));
    },
    typing: () => trying(() => api.post(`/channels/${channel().id}/typing`, { as: as() })),
  };
  return acts;
}

const remove = (path, body) => api.delete(path, body);

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce("Copied");
  } catch {
    toast("The browser gave no access to the clipboard.", "Select the text and copy it by hand.");
  }
}

/** @param {object} page as above, and `speakAs(id)` */
export function placeActs(page) {
  const as = () => state.meId;
  const kinds = [["0", "Text channel"], ["5", "Announcements"], ["15", "Forum"], ["2", "Voice channel"], ["4", "Category"]];

  const acts = {
    newPerson: () => askForm({
      title: "New person", submit: "Create", fields: [
        { name: "name", label: "Name", required: true, maxlength: 32 },
        { name: "guild", label: "Joins", type: "choice", value: guildOf()?.id ?? "", options: [["", "no server"], ...[...state.guilds.values()].map((guild) => [guild.id, guild.name])] },
      ],
      run: async ({ name, guild }) => {
        const made = await trying(() => api.post("/people", { name, guildId: guild || null }));
        if (made) page.speakAs(made.id);
        return Boolean(made);
      },
    }),
    newGuild: () => askForm({
      title: "New server", about: "It belongs to the person you speak as.", submit: "Create", fields: [{ name: "name", label: "Name", required: true, maxlength: 100 }],
      run: async ({ name }) => {
        const made = await trying(() => api.post("/guilds", { as: as(), name }));
        if (made) page.openWhenKnown(made.channelId);
        return Boolean(made);
      },
    }),
    newChannel: (guild) => askForm({
      title: `New channel in ${guild.name}`, submit: "Create", fields: [
        { name: "name", label: "Name", required: true, maxlength: 100 },
        { name: "type", label: "Kind", type: "choice", value: "0", options: kinds },
        { name: "parentId", label: "Category", type: "choice", value: "", options: [["", "none"], ...guild.channels.filter((item) => item.type === TYPE.category).map((item) => [item.id, item.name])] },
        { name: "topic", label: "Topic (optional)", maxlength: 1024 },
        { name: "private", label: "Only those with a role that is let in see it", type: "flag" },
      ],
      run: async (values) => {
        const made = await trying(() => api.post(`/guilds/${guild.id}/channels`, { as: as(), name: values.name, type: Number(values.type), parentId: values.parentId || null, topic: values.topic || null, private: values.private }));
        if (made && made.type !== TYPE.category && made.type !== TYPE.voice) page.openWhenKnown(made.id);
        return Boolean(made);
      },
    }),
    newRole: (guild) => askForm({
      title: `New role in ${guild.name}`, submit: "Create", fields: [{ name: "name", label: "Name", required: true, maxlength: 100 }, { name: "mentionable", label: "Anyone may mention it", type: "flag", value: true }, { name: "manager", label: "May manage channels and messages", type: "flag" }],
      run: async (values) => Boolean(await trying(() => api.post(`/guilds/${guild.id}/roles`, { as: as(), ...values }))),
    }),
    addMember: (guild, userId) => trying(() => api.post(`/guilds/${guild.id}/members`, { userId })),
    invite: (bot) => {
      const free = [...state.guilds.values()].filter((guild) => !guild.members.some((member) => member.user_id === bot.userId));
      if (!free.length) { toast(`${bot.name} is in every server you are in.`, "Make another server first: New server, in the navigation.", { kind: "info" }); return; }
      askForm({
        title: `Add ${bot.name} to a server`, submit: "Add", fields: [{ name: "guild", label: "Server", type: "choice", options: free.map((guild) => [guild.id, guild.name]) }],
        run: async ({ guild }) => (await trying(() => api.post(`/guilds/${guild}/members`, { userId: bot.userId }))) !== undefined,
      });
    },
    newApplication: () => askForm({
      title: "New bot", submit: "Create", about: "Its token is under “Copy token”.", fields: [
        { name: "name", label: "Name", required: true, maxlength: 32 },
        { name: "content", label: "May read message content (a privileged intent)", type: "flag", value: true },
        { name: "members", label: "May list members (a privileged intent)", type: "flag", value: true },
        { name: "presences", label: "May see presences (a privileged intent)", type: "flag" },
        { name: "guild", label: "Joins", type: "choice", value: guildOf()?.id ?? "", options: [["", "no server"], ...[...state.guilds.values()].map((guild) => [guild.id, guild.name])] },
      ],
      run: async (values) => Boolean(await trying(() => api.post("/applications", { as: as(), name: values.name, guildId: values.guild || null, messageContent: values.content, members: values.members, presences: values.presences }))),
    }),
    talk: async (userId) => {
      const made = await trying(() => api.post("/dms", { as: as(), with: userId }));
      if (made) page.openWhenKnown(made.id);
    },
    newDm: () => askForm({
      title: "New conversation", submit: "Open", fields: [{ name: "with", label: "With", type: "choice", options: [...state.users.values()].filter((user) => user.id !== as()).map((user) => [user.id, `${user.global_name || user.username}${user.bot ? " (bot)" : ""}`]) }],
      run: async (values) => { await acts.talk(values.with); },
    }),
    newPost: () => {
      const place = channel();
      const tags = place.available_tags ?? [];
      askForm({
        title: `New post in ${place.name}`, submit: "Post", fields: [
          { name: "name", label: "Title", required: true, maxlength: 100 },
          { name: "content", label: "Text", type: "text", rows: 6, required: true },
          ...(tags.length ? [{ name: "tag", label: "Tag", type: "choice", options: [["", "none"], ...tags.map((tag) => [tag.id, tag.name])] }] : []),
        ],
        run: async (values) => {
          const made = await trying(() => api.post(`/channels/${place.id}/posts`, { as: as(), name: values.name, content: toMarks(values.content, place, guildOf(place)), tags: values.tag ? [values.tag] : [] }));
          if (made) page.openWhenKnown(made.id);
          return Boolean(made);
        },
      });
    },
    guildMenu(guild, anchor) {
      const manage = (what) => guild.can.includes(what);
      const absent = state.world.people.filter((user) => !guild.members.some((member) => member.user_id === user.id));
      showMenu(anchor, `More about ${guild.name}`, [
        manage("channels") && { label: "New channel", icon: "plus", run: () => acts.newChannel(guild) },
        manage("roles") && { label: "New role", icon: "people", run: () => acts.newRole(guild) },
        absent.length > 0 && { label: "Add a person", icon: "people", run: () => askForm({
          title: `Add a person to ${guild.name}`, submit: "Add", fields: [{ name: "user", label: "Person", type: "choice", options: absent.map((user) => [user.id, user.global_name || user.username]) }],
          run: async ({ user }) => (await acts.addMember(guild, user)) !== undefined,
        }) },
        { label: "Copy id", icon: "copy", run: () => copy(guild.id) },
        guild.owner_id !== as() && { label: "Leave", icon: "close", danger: true, run: () => trying(() => api.delete(`/guilds/${guild.id}/members/${as()}`, { as: as() })) },
      ].filter(Boolean));
    },
    memberMenu(user, guild, anchor) {
      const member = guild?.members.find((item) => item.user_id === user.id);
      const roles = guild?.roles.filter((role) => role.id !== guild.id && !role.managed) ?? [];
      showMenu(anchor, `More about ${userName(user.id, guild)}`, [
        user.id !== as() && { label: "Write to them", icon: "at", run: () => acts.talk(user.id) },
        !user.bot && user.id !== as() && { label: "Speak as them", icon: "people", run: () => page.speakAs(user.id) },
        guild?.can.includes("roles") && roles.length > 0 && { label: "Roles", icon: "check", run: () => askForm({
          title: `Roles of ${userName(user.id, guild)}`, submit: "Set", fields: roles.map((role) => ({ name: role.id, label: role.name, type: "flag", value: member.roles.includes(role.id) })),
          run: async (values) => Boolean(await trying(() => api.put(`/guilds/${guild.id}/members/${user.id}/roles`, { as: as(), roles: [...Object.keys(values).filter((id) => values[id]), ...member.roles.filter((id) => !(id in values))] }))),
        }) },
        { label: "Copy id", icon: "copy", run: () => copy(user.id) },
      ].filter(Boolean));
    },
    placeMenu(anchor) {
      const place = channel();
      const guild = guildOf(place);
      const archived = place.thread_metadata?.archived;
      showMenu(anchor, `More about ${channelName(place)}`, [
        { label: "Pinned messages", icon: "pin", run: () => page.showPins() },
        can("overwrites") && { label: "Who may see it", icon: "lock", run: () => acts.access(place, guild) },
        isThread(place) && { label: archived ? "Open the thread again" : "Archive the thread", icon: "thread", run: () => trying(() => api.patch(`/channels/${place.id}`, { as: as(), archived: !archived })) },
        { label: "Copy id", icon: "copy", run: () => copy(place.id) },
        can("delete") && { label: isThread(place) ? "Delete thread" : "Delete channel", icon: "trash", danger: true, run: () => askForm({
          title: `Delete ${channelName(place)}?`, about: "With everything that was said there.", fields: [], submit: "Delete", danger: true,
          run: async () => (await trying(() => api.delete(`/channels/${place.id}`, { as: as() }))) !== undefined,
        }) },
      ].filter(Boolean));
    },
    access(place, guild) {
      const roles = guild.roles.filter((role) => !role.managed || role.id === guild.id);
      const now = new Map((place.permission_overwrites ?? []).map((item) => [item.id, item]));
      const VIEW = 1n << 10n;
      const chosen = (id) => {
        const item = now.get(id);
        if (!item) return "default";
        return BigInt(item.allow) & VIEW ? "allow" : BigInt(item.deny) & VIEW ? "deny" : "default";
      };
      askForm({
        title: `Who may see ${place.name}`, submit: "Set", fields: roles.map((role) => ({ name: role.id, label: role.name, type: "choice", value: chosen(role.id), options: [["default", "as the role says"], ["allow", "may see it"], ["deny", "may not see it"]] })),
        run: async (values) => {
          for (const [id, view] of Object.entries(values)) {
            if (view === chosen(id)) continue;
            if (!(await trying(() => api.put(`/channels/${place.id}/overwrites/${id}`, { as: as(), view })))) return false;
          }
          return true;
        },
      });
    },
  };
  return acts;
}
