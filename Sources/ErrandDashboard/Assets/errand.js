// The pages work without this script. It refreshes live parts, asks for confirmations, and shows events as they arrive.
"use strict";

for (const part of document.querySelectorAll("[data-live]")) keepLive(part);

// Reloads the page periodically and replaces the live part. Old numbers look like new ones, so a sign appears while the
// refresh fails.
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
  // A button that is being pressed must not disappear.
  if (part.matches(":active")) return part;
  put(fresh, part);
  sign.hide();
  return document.getElementById(fresh.id) ?? part;
}

async function load(id, every) {
  const options = { headers: { Accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(10 * every) };
  const answer = await fetch(location.href, options).catch(() => { throw new Error("the dashboard does not respond"); });
  if (!answer.ok) throw new Error("the dashboard returned status " + answer.status);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(id);
  // For example a login page.
  if (!fresh) throw new Error("the dashboard returned another page");
  return document.adoptNode(fresh);
}

// Replaces the part and keeps the focus: on the element with the same id, or on the same one of those with the same link.
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

// Changes only what differs, so that screen readers and the focus stay on their elements.
function merge(fresh, old) {
  // What this script shows stays for as long as the pointer is there.
  if (old.isEqualNode(fresh) || (old.dataset && "keep" in old.dataset && old.parentNode.matches(":hover"))) return;
  const [children, others] = [[...old.childNodes], [...fresh.childNodes]];
  if (old.nodeType !== Node.ELEMENT_NODE || old.nodeName !== fresh.nodeName || children.length !== others.length) {
    old.replaceWith(fresh);
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  children.forEach((child, place) => merge(others[place], child));
}

// Adds a line above a live part that is visible while the part is outdated.
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
  // After a few intervals, because a response that never arrives does not fail.
  const expect = (every) => { late ??= setTimeout(() => { if (line.hidden && !document.hidden) show("no response"); }, 4 * every); };
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

document.addEventListener("pointermove", (event) => {
  const plot = event.target.closest?.(".chart svg");
  if (plot) read(plot, event.clientX);
});

// Shows the values of a chart under the pointer.
function read(plot, x) {
  const box = plot.getBoundingClientRect();
  const lines = plot.dataset.lines.split(";").map((line) => {
    const end = line.lastIndexOf("=");
    return { name: line.slice(0, end), values: line.slice(end + 1).split(",") };
  });
  const steps = lines[0].values.length;
  const at = Math.min(steps - 1, Math.max(0, Math.round((x - box.left) / box.width * (steps - 1))));
  const time = new Date(Number(plot.dataset.from) + at * Number(plot.dataset.step));
  const values = lines.map(({ name, values }) => name + " " + (values[at] === "" ? "–" : values[at] + plot.dataset.unit));
  plot.closest("figure").querySelector(".reading").textContent = time.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" }) + ": " + values.join(", ");
}

const events = document.getElementById("events");
if (events) listen(events);

function listen(table) {
  const state = document.getElementById("events-state");
  const source = new EventSource(table.dataset.stream);
  source.onopen = () => { state.textContent = "Listening."; };
  source.onerror = () => { state.textContent = "The connection was lost; trying again. Events in between are missing here."; };
  source.addEventListener("missed", (message) => { state.textContent = message.data + " events were skipped, because there are too many."; });
  source.onmessage = (message) => {
    for (const line of message.data.split("\n")) {
      // Clients that may publish may publish anything.
      try { add(table, JSON.parse(line)); } catch (problem) { state.textContent = "An invalid event was skipped."; }
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
