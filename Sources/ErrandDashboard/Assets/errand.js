// Reading works without this: it refreshes what is live, asks before what cannot be undone, and shows events as they come.
"use strict";

for (const part of document.querySelectorAll("[data-live]")) keepLive(part);

function keepLive(part) {
  const every = Number(part.dataset.live);
  if (!every) return;
  setTimeout(async () => {
    let fresh = part;
    try {
      if (!document.hidden && !part.contains(document.activeElement)) fresh = await renew(part);
    } catch (problem) {
      part.setAttribute("aria-busy", "true");
    }
    keepLive(fresh);
  }, every);
}

async function renew(part) {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
  if (!answer.ok) throw new Error(answer.statusText);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(part.id);
  if (!fresh) return part;
  part.replaceWith(document.adoptNode(fresh));
  return fresh;
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
