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
  enhance(fresh);
  return document.adoptNode(fresh);
}

// Replaces the part and keeps the focus: on the element with the same id, or on the same one of those with the same link.
function put(fresh, part) {
  const at = part.contains(document.activeElement) ? document.activeElement : null;
  const link = at?.getAttribute("href");
  const name = at?.id ? "#" + CSS.escape(at.id) : link ? `[href="${CSS.escape(link)}"]` : "";
  const place = name ? [...part.querySelectorAll(name)].indexOf(at) : -1;
  const id = part.id;
  keepOpen(fresh, part);
  merge(fresh, part);
  if (place >= 0 && !at.isConnected) document.getElementById(id)?.querySelectorAll(name)[place]?.focus({ preventScroll: true });
  markEdges();
}

// Leaves open what the user has opened.
function keepOpen(fresh, part) {
  const [others, all] = [fresh, part].map((one) => [...one.querySelectorAll("details")]);
  if (all.length === others.length) all.forEach((one, place) => { others[place].open = one.open; });
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

for (const kind of ["pointerover", "focusin", "focusout"]) document.addEventListener(kind, markEdges);

// Marks the edges of the job of a workflow that is under the pointer, or has the focus.
function markEdges() {
  const job = (document.querySelector(".graph a:hover") ?? document.querySelector(".graph a:focus"))?.dataset.job;
  for (const one of document.querySelectorAll(".graph .near")) if (!isOf(one, job)) one.classList.remove("near");
  if (job === undefined) return;
  for (const one of document.querySelectorAll(`.graph [data-edge^="${job} "], .graph [data-edge$=" ${job}"]`)) one.classList.add("near");
}

function isOf(edge, job) { return edge.dataset.edge.split(" ").includes(job); }

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const label = (button.dataset.label ??= button.textContent);
  button.textContent = (await copy(button.dataset.copy)) ? "Copied" : "Not copied";
  setTimeout(() => { button.textContent = label; }, 1500);
});

// Browsers allow the clipboard only to pages from this machine or over TLS; elsewhere the text is selected instead.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.setAttribute("aria-label", "Copied text");
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    return isDone;
  }
}

enhance(document);

// Shows what only works with a script, and exact times in the zone of this browser.
function enhance(part) {
  for (const one of part.querySelectorAll("[data-copy][hidden], [data-script][hidden]")) one.hidden = false;
  for (const time of part.querySelectorAll("time[datetime]")) {
    const date = new Date(time.dateTime);
    if (isNaN(date)) continue;
    const local = date.toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
    if ("local" in time.dataset) time.textContent = local;
    if (!time.title.includes(local)) time.title += " (" + local + " here)";
  }
}

const events = document.getElementById("events");
if (events) listen(events);

// The newest events that the filter may show; as many elements at most.
const MOST_EVENTS = 200;

function listen(list) {
  const state = document.getElementById("events-state");
  const tools = document.getElementById("events-tools");
  const [pause, kind, text, clear] = ["pause", "kind", "text", "clear"].map((name) => document.getElementById("events-" + name));
  const source = new EventSource(list.dataset.stream);
  // While the list is paused, events are kept, at most as many as it shows.
  let [isPaused, waiting, kept] = [false, [], []];
  const passes = (event) => (!kind.value || event.event === kind.value)
    && (!text.value || JSON.stringify(Object.values(event)).toLowerCase().includes(text.value.toLowerCase()));
  const trim = () => { while (list.children.length > MOST_EVENTS) list.lastElementChild.remove(); };
  const show = (event) => {
    kept.push(event);
    if (kept.length > MOST_EVENTS) kept.shift();
    if (passes(event)) list.prepend(eventRow(list.dataset.base, event));
    trim();
  };
  const filter = () => { list.replaceChildren(...kept.filter(passes).reverse().map((event) => eventRow(list.dataset.base, event))); };
  tools.hidden = false;
  kind.onchange = text.oninput = filter;
  clear.onclick = () => { kept = []; list.replaceChildren(); };
  pause.onclick = () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? "Resume" : "Pause";
    waiting.forEach(show);
    waiting = [];
    state.textContent = isPaused ? "Paused." : "Listening.";
  };
  source.onopen = () => { if (!isPaused) state.textContent = "Listening."; };
  source.onerror = () => { state.textContent = "The connection was lost; trying again. Events in between are missing here."; };
  source.addEventListener("missed", (message) => { state.textContent = message.data + " events were skipped, because there are too many."; });
  source.onmessage = (message) => {
    for (const line of message.data.split("\n")) {
      // Clients that may publish may publish anything.
      try {
        const event = JSON.parse(line);
        new Date(event.at_ms).toISOString();
        if (!isPaused) { show(event); continue; }
        waiting.push(event);
        if (waiting.length > MOST_EVENTS) waiting.shift();
        state.textContent = "Paused; " + (waiting.length === MOST_EVENTS ? "at least " : "") + waiting.length + " events are waiting.";
      } catch (problem) { state.textContent = "An invalid event was skipped."; }
    }
  };
}

const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23" });

function eventRow(base, event) {
  const row = document.createElement("li");
  row.className = "job";
  const line = row.appendChild(document.createElement("div"));
  line.className = "line";
  const add = (name, text, style = "") => {
    if (text === undefined || text === null || text === "") return null;
    const made = line.appendChild(document.createElement(name));
    [made.textContent, made.className] = [text, style];
    line.append(" ");
    return made;
  };
  const isBad = ["failed", "timed_out", "dead", "workflow_failed"].includes(event.event);
  add("time", clock.format(new Date(event.at_ms)), "faint");
  add("span", event.event, isBad ? "tag dead" : "tag");
  const isOfWorkflow = String(event.event).startsWith("workflow_");
  const link = add("a", event.operation || (isOfWorkflow ? "workflow" : "–"), "title");
  link.href = base + (isOfWorkflow ? "/workflows/" : "/queues/" + encodeURIComponent(event.queue) + "/jobs/") + encodeURIComponent(event.id);
  add("span", event.queue, "faint");
  add("span", event.name, "name");
  add("span", event.attempt ? "attempt " + event.attempt : "", "faint");
  // Only runs that have ended have a duration.
  const hasRun = event.duration_ms !== undefined && ["finished", "failed", "timed_out", "cancelled", "dead"].includes(event.event);
  add("span", hasRun ? "ran " + event.duration_ms + " ms" : "", "faint");
  add("span", event.fraction === undefined ? "" : Math.round(event.fraction * 100) + " %" + (event.message ? ": " + event.message : ""), "faint");
  add("code", event.id, "faint when");
  if (event.error) {
    const details = row.appendChild(document.createElement("details"));
    details.className = "error";
    details.appendChild(document.createElement("summary")).textContent = String(event.error).split("\n")[0];
    details.appendChild(document.createElement("pre")).textContent = event.error;
  }
  return row;
}
