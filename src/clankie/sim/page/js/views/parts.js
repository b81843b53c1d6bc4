// What a message holds beside its text: files, cards, stickers, polls.
//
// Only what this simulator serves itself is loaded. A picture on another machine is a link: opening a page must tell
// nobody elsewhere that it was opened.
import { h, icon } from "../dom.js";
import { link, renderMarkdown } from "../text/render.js";

const UNITS = ["bytes", "KiB", "MiB", "GiB"];

export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) { value /= 1024; unit += 1; }
  return unit ? `${value.toFixed(1)} ${UNITS[unit]}` : `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
}

/** The address to load from this page's own origin, or null when it is somebody else's. */
export function ownAddress(url) {
  let address;
  try {
    address = new URL(url, location.origin);
  } catch {
    return null;
  }
  const loopback = ["127.0.0.1", "localhost", "[::1]"].includes(address.hostname);
  return loopback && address.port === location.port && address.pathname.startsWith("/attachments/") ? address.pathname + address.search : null;
}

export function attachments(files) {
  return files.map((file) => {
    const address = ownAddress(file.url);
    const type = file.content_type ?? "";
    const spoiler = file.filename.startsWith("SPOILER_");
    if (address && type.startsWith("image/") && type !== "image/svg+xml") return picture(file, address, spoiler);
    if (address && type.startsWith("audio/")) {
      const voice = file.duration_secs !== undefined;
      return h("figure", { class: "file audio" },
        h("audio", { controls: true, preload: "none", src: address, "aria-label": voice ? "Voice message" : file.filename }),
        h("figcaption", { text: voice ? `Voice message, ${Math.round(file.duration_secs)} s` : `${file.filename}, ${size(file.size)}` }));
    }
    return h("a", { class: "file", href: address ?? "#", download: file.filename, target: "_blank", rel: "noopener" },
      icon("file"), h("span", { class: "file-name", text: file.filename }), h("span", { class: "muted", text: size(file.size) }));
  });
}

const WIDEST = 420;
const TALLEST = 320;

function picture(file, address, spoiler) {
  const image = h("img", { src: address, alt: file.description || `Picture ${file.filename}`, loading: "lazy", decoding: "async" });
  if (file.width && file.height) { // its room is kept before it is loaded, so that nothing jumps
    const scale = Math.min(1, WIDEST / file.width, TALLEST / file.height);
    image.width = Math.max(1, Math.round(file.width * scale));
    image.height = Math.max(1, Math.round(file.height * scale));
  }
  const open = h("a", { class: "picture", href: address, target: "_blank", rel: "noopener", title: `${file.filename}, ${size(file.size)}` }, image);
  if (!spoiler) return open;
  const button = h("button", { type: "button", class: "spoiler", text: "Spoiler: show the picture" });
  button.addEventListener("click", () => button.replaceWith(open));
  return button;
}

export function embeds(cards, names) {
  return cards.map((card) => {
    const box = h("aside", { class: "embed", "aria-label": card.title ? `Card: ${card.title}` : "Card" });
    if (Number.isInteger(card.color)) box.style.setProperty("--embed", `#${(card.color & 0xffffff).toString(16).padStart(6, "0")}`);
    if (card.provider?.name) box.append(h("p", { class: "embed-small", text: card.provider.name }));
    if (card.author?.name) box.append(h("p", { class: "embed-small" }, maybeLink(card.author.url, card.author.name)));
    if (card.title) box.append(h("p", { class: "embed-title" }, maybeLink(card.url, card.title)));
    if (card.description) box.append(h("div", { class: "embed-text" }, renderMarkdown(card.description, names)));
    if (card.fields?.length) {
      box.append(h("dl", { class: "embed-fields" }, card.fields.map((field) =>
        h("div", { class: field.inline ? "inline" : null }, h("dt", { text: field.name }), h("dd", {}, renderMarkdown(field.value ?? "", names))))));
    }
    for (const media of [card.image, card.thumbnail, card.video].filter((item) => item?.url)) box.append(embedMedia(media));
    if (card.footer?.text || card.timestamp) {
      const when = card.timestamp ? new Date(card.timestamp).toLocaleString() : null;
      box.append(h("p", { class: "embed-small", text: [card.footer?.text, when].filter(Boolean).join(" · ") }));
    }
    return box;
  });
}

function embedMedia(media) {
  const address = ownAddress(media.url);
  if (address) return h("img", { src: address, alt: media.description ?? "Picture of the card", loading: "lazy" });
  return h("p", { class: "embed-small" }, "Picture elsewhere, not loaded: ", link(media.url, [media.url]));
}

function maybeLink(url, text) {
  return url ? link(url, [text]) : text;
}

export function stickers(items) {
  return items.map((item) => h("p", { class: "sticker" }, h("span", { class: "muted", text: "Sticker" }), h("strong", { text: item.name })));
}

export function poll(item) {
  const counts = new Map((item.results?.answer_counts ?? []).map((each) => [each.id, each.count]));
  return h("section", { class: "poll", "aria-label": "Poll" },
    h("p", { class: "poll-question", text: item.question?.text ?? "" }),
    h("ul", {}, (item.answers ?? []).map((answer) => h("li", {},
      h("span", { text: [answer.poll_media?.emoji?.name, answer.poll_media?.text].filter(Boolean).join(" ") }),
      h("span", { class: "muted", text: String(counts.get(answer.answer_id) ?? 0) })))),
    h("p", { class: "hint", text: item.allow_multiselect ? "Several answers may be chosen." : "One answer may be chosen." }));
}
