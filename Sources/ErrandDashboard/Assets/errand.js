// Reading works without this: it refreshes what is live, asks before what cannot be undone, and shows events as they come.
"use strict";

for (const part of document.querySelectorAll("[data-live]")) keepLive(part);

// Asks for the page again and again, and puts what came in the place of what there is. Old numbers look like new ones, so whoever
// reads is told whenever nothing comes.
async function keepLive(part) {
  const sign = addSign(part);
  while (part.dataset.live) {
    const every = Number(part.dataset.live);
    sign.expect(every);
    await new Promise((go) => setTimeout(go, every));
    try {
      part = await renew(part, every, sign);
    } catch (problem) {
      sign.show(problem.message);
    }
  }
  sign.hide();
}

async function renew(part, every, sign) {
  if (document.hidden) return part;
  const fresh = await load(part.id, every);
  // What is just being pressed must not go away under the finger.
  if (part.matches(":active")) return part;
  put(fresh, part);
  sign.hide();
  return document.getElementById(fresh.id) ?? part;
}

async function load(id, every) {
  const options = { headers: { Accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(10 * every) };
  const answer = await fetch(location.href, options).catch(() => { throw new Error("the dashboard does not answer"); });
  if (!answer.ok) throw new Error("the dashboard answers with " + answer.status);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(id);
  // One that asks who one is, say.
  if (!fresh) throw new Error("another page came");
  return document.adoptNode(fresh);
}

// The keyboard stays where it was: on what has the same id, or on the same one of what has the same link.
function put(fresh, part) {
  const at = part.contains(document.activeElement) ? document.activeElement : null;
  const link = at?.getAttribute("href");
  const name = at?.id ? "#" + CSS.escape(at.id) : link ? `[href="${CSS.escape(link)}"]` : "";
  const place = name ? [...part.querySelectorAll(name)].indexOf(at) : -1;
  const id = part.id;
  merge(fresh, part);
  if (place < 0 || at.isConnected) return;
  document.getElementById(id)?.querySelectorAll(name)[place]?.focus({ preventScroll: true });
}

// Changes what differs and nothing else: what is being read aloud, or has the keyboard, stays the same as long as it can.
function merge(fresh, old) {
  if (old.isEqualNode(fresh)) return;
  const [children, others] = [[...old.childNodes], [...fresh.childNodes]];
  if (old.nodeType !== Node.ELEMENT_NODE || old.nodeName !== fresh.nodeName || children.length !== others.length) {
    old.replaceWith(fresh);
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  children.forEach((child, place) => merge(others[place], child));
}

// A line above a live part that is seen while the part is older than it looks.
function addSign(part) {
  const line = document.createElement("p");
  line.className = "stale";
  line.setAttribute("role", "status");
  line.hidden = true;
  part.before(line);
  let since = new Date(), late;
  const show = (why) => {
    const text = `Not refreshed since ${since.toISOString().slice(11, 19)} UTC: ${why}.`;
    if (line.textContent !== text) line.textContent = text;
    line.hidden = false;
  };
  const hide = () => {
    [since, line.hidden, line.textContent] = [new Date(), true, ""];
    clearTimeout(late);
    late = null;
  };
  // A few times as long as it should take; an answer that never comes is no failure.
  const expect = (every) => { late ??= setTimeout(() => { if (line.hidden && !document.hidden) show("nothing came"); }, 4 * every); };
  return { show, hide, expect };
}

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

document.addEventListener("change", (event) => {
  if (!("all" in event.target.dataset)) return;
  for (const box of document.querySelectorAll("input[name=job]")) box.checked = event.target.checked;
});

const events = document.getElementById("events");
if (events) listen(events);

function listen(table) {
  const state = document.getElementById("events-state");
  const source = new EventSource(table.dataset.stream);
  source.onopen = () => { state.textContent = "Listening."; };
  source.onerror = () => { state.textContent = "The connection was lost; trying again. Events in between are missing here."; };
  source.addEventListener("missed", (message) => { state.textContent = message.data + " events were left out: there are too many."; });
  source.onmessage = (message) => {
    for (const line of message.data.split("\n")) {
      // Whoever may publish may publish nonsense.
      try { add(table, JSON.parse(line)); } catch (problem) { state.textContent = "Something that is no event was left out."; }
    }
    while (table.rows.length > 200) table.deleteRow(-1);
  };
}

function add(table, event) {
  const time = new Date(event.at_ms).toISOString().slice(11, 23);
  const row = table.insertRow(0);
  const cell = (text, name) => {
    const made = row.insertCell();
    made.textContent = text ?? "";
    if (name) made.className = name;
    return made;
  };
  cell(time);
  cell(event.event, ["failed", "timed_out", "dead"].includes(event.event) ? "bad" : "");
  cell(event.queue);
  cell(event.operation);
  cell(event.name, "text");
  const link = document.createElement("a");
  link.href = table.dataset.base + "/queues/" + encodeURIComponent(event.queue) + "/jobs/" + encodeURIComponent(event.id);
  link.textContent = event.id;
  cell("", "id").append(link);
  cell(event.attempt, "number");
  cell(event.duration_ms + " ms", "number");
  cell(event.error, "text");
}
