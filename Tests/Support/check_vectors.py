#!/usr/bin/env python3
"""Checks docs/schema against itself, without a line of Swift.

The schema must accept every valid vector and refuse every invalid one that is JSON, unless the vector is marked
"beyond_schema"; and the settled forms in valid.json must be what docs/format.md says, as implemented once more here.

    python3 Tests/Support/check_vectors.py            check (needs the package jsonschema for the first half)
    python3 Tests/Support/check_vectors.py --settle   write the settled forms and the plans of workflows
"""
import base64
import hashlib
import json
import pathlib
import re
import sys

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schema"
MADE_ID = "made-id"
LONGEST_SETTLED = 4096


def text_of(vector):
    if "base64" in vector:
        return base64.b64decode(vector["base64"])
    if "parts" in vector:
        return "".join(part["text"] * part["times"] for part in vector["parts"]).encode()
    return vector["text"].encode("utf-8", "surrogatepass")


class Number(str):
    """A number as it was written."""


class Members(list):
    """The members of an object, in their order, equal keys too."""


def string(text):
    short = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
    return '"' + "".join(short.get(ord(c)) or (f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in text) + '"'


def canonical(value):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Members):
        members = sorted(value, key=lambda member: member[0].encode())
        return "{" + ",".join(string(key) + ":" + canonical(item) for key, item in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        return string(value)
    return json.dumps(value)


def raw_members(text):
    """The members of the outermost object: decoded key, key as written, value as written."""
    space = re.compile(r"[ \t\r\n]*")
    key = re.compile(r'"(?:[^"\\]|\\.)*"')
    decoder = json.JSONDecoder(object_pairs_hook=Members, parse_int=Number, parse_float=Number)
    place = space.match(text, text.index("{") + 1).end()
    members = []
    while text[place] != "}":
        written = key.match(text, place).group()
        place = space.match(text, place + len(written)).end() + 1
        place = space.match(text, place).end()
        value, end = decoder.raw_decode(text, place)
        members.append((json.loads(written), written, value, text[place:end]))
        place = space.match(text, end).end()
        if text[place] == ",":
            place = space.match(text, place + 1).end()
    return members


NUMBERS = ("window_ms", "at_most_ms", "timeout_ms", "not_before_ms", "expires_ms", "retries", "backoff", "priority")
KNOWN = ("v operation arguments queue name unique unique_until group cost id tags meta workflow".split()) + list(NUMBERS)


def settle(text, made_id=MADE_ID, home="default", membership=None):
    known = KNOWN + (["after", "when"] if membership else [])
    members = raw_members(text.decode())
    given = {key: (value, raw) for key, _, value, raw in members if key in known}
    given = {key: pair for key, pair in given.items() if pair[0] is not None or key == "arguments"}
    unknown = [written + ":" + raw for key, written, _, raw in members if key not in known]

    def number(key):
        return str(int(given[key][0])) if key in given else ""

    operation = given["operation"][0]
    arguments, written_arguments = given.get("arguments", (Members(), "{}"))
    unique = given.get("unique", ("ignore",))[0]
    canonical_arguments = canonical(arguments)
    name = given.get("name", (None,))[0]
    if name is None and unique != "ignore":
        name = operation + " sha256:" + hashlib.sha256(canonical_arguments.encode()).hexdigest()
    fields = ['"v":1', f'"operation":"{operation}"', '"arguments":' + written_arguments]
    fields.append('"queue":"' + given.get("queue", (home,))[0] + '"')
    if name is not None:
        fields.append('"name":' + string(name))
    fields.append(f'"unique":"{unique}"')
    if "unique_until" in given:
        fields.append('"unique_until":"' + given["unique_until"][0] + '"')
    for key in NUMBERS:
        if key in given:
            fields.append(f'"{key}":{given[key][1] if key == "backoff" else number(key)}')
    if "group" in given:
        fields.append('"group":"' + given["group"][0] + '"')
    if "cost" in given:
        fields.append('"cost":' + number("cost"))
    fields.append('"id":"' + given.get("id", (made_id,))[0] + '"')
    if given.get("tags", ([],))[0]:
        fields.append('"tags":[' + ",".join(string(tag) for tag in given["tags"][0]) + "]")
    if "meta" in given:
        fields.append('"meta":' + given["meta"][1])
    if membership:
        fields.append('"workflow":{"id":"%s","key":"%s"}' % membership)
    fragment = f'"operation":"{operation}","name":' + ("null" if name is None else string(name))
    fragment += "".join("," + field for field in fields if field.startswith('"tags":'))
    lets_go = unique in ("drop", "replace", "keep_latest") and given.get("unique_until", ("",))[0] == "started"
    letter = "B" if unique == "debounce" else unique[0].upper() if lets_go else unique[0]
    rule, length = f"{letter}{number('priority') or 5}", str(len(fragment.encode()))
    numbers = [number("timeout_ms"), number("retries")]
    newer = ["+" + number("expires_ms") if "expires_ms" in given else "", number("cost"), given.get("group", ("",))[0]]
    parts = ["2" + rule, length] + numbers + newer if any(newer) else ["1" + rule] + numbers + [length]
    header = ";".join(parts) + "\n"
    envelope = header + fragment + "{" + ",".join(fields + unknown) + "}"
    settled = {"name": name}
    for key, value in (("canonical_arguments", canonical_arguments), ("envelope", envelope)):
        size = len(value.encode())
        settled.update({key: value} if size <= LONGEST_SETTLED else {key + "_bytes": size})
    return settled


TOKEN = "4fJ0aQ9bX2cD7eHk"


def order_of(jobs):
    """The keys of the jobs, each after those that it comes after, otherwise as they are written."""
    keys, order = list(jobs), []

    def visit(key):
        if key in order:
            return
        for need in sorted(needs_of(jobs[key]), key=keys.index):
            visit(need)
        order.append(key)

    for key in keys:
        visit(key)
    return order


def needs_of(job):
    after = job.get("after") or []
    return [after] if isinstance(after, str) else after


def plan(text):
    """What the push of a workflow with a certain token sends."""
    workflow = json.loads(text)
    jobs = workflow["jobs"]
    home = workflow.get("queue") or next(iter(jobs.values())).get("queue") or "default"
    order = order_of(jobs)
    written = {key: raw for key, _, _, raw in raw_members(dict((k, r) for k, _, _, r in raw_members(text))["jobs"])}

    def envelope(raw, job_id, key):
        return settle(raw.encode(), job_id, home, (f"{home}:{TOKEN}", key))["envelope"]

    members = []
    for number, key in enumerate(order):
        when = jobs[key].get("when") or "success"
        needs = [[order.index(need), when] for need in needs_of(jobs[key])]
        members.append({"key": key, "needs": needs, "envelope": envelope(written[key], f"{TOKEN}-{number}", key)})
    planned = {"queue": home, "members": members}
    for key, suffix in (("on_success", "success"), ("on_failure", "failure")):
        if workflow.get(key):
            raw = dict((k, r) for k, _, _, r in raw_members(text))[key]
            planned[key] = envelope(raw, f"{TOKEN}-{suffix}", key)
    return planned


def check_workflows(valid, invalid, schema):
    for vector in valid:
        if schema and not schema.is_valid(json.loads(vector["text"])):
            yield f"the schema refuses a valid workflow: {vector['why']}"
        if vector.get("plan") != plan(vector["text"]):
            yield f"the plan of a workflow is another: {vector['why']}"
    for vector in invalid:
        if not schema or vector["code"] == "malformed_json":
            continue
        accepted = schema.is_valid(json.loads(vector["text"]))
        if accepted != vector.get("beyond_schema", False):
            yield f"the schema {'accepts' if accepted else 'refuses'} an invalid workflow: {vector['why']}"


def write(name, vectors):
    lines = ",\n".join("  " + json.dumps(vector) for vector in vectors)
    (SCHEMA / "vectors" / f"{name}.json").write_text("[\n" + lines + "\n]\n")


def validator():
    try:
        import jsonschema
    except ImportError:
        print("the package jsonschema is not installed: the schema itself is not checked")
        return None
    from referencing import Registry, Resource

    names = ("operation-description", "schedule", "workflow")
    schemas = [json.loads((SCHEMA / f"{name}.schema.json").read_text()) for name in names]
    registry = Registry().with_resources([(schema["$id"], Resource.from_contents(schema)) for schema in schemas])
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema)
    return [jsonschema.Draft202012Validator(schema, registry=registry) for schema in schemas]


def check_schedules(valid, invalid, schema):
    for vector in valid:
        if schema and not schema.is_valid(json.loads(vector["json"])):
            yield f"the schema refuses a valid schedule: {vector['name']}"
    for vector in invalid:
        try:
            value = json.loads(vector["json"])
        except ValueError:
            continue
        if schema and schema.is_valid(value) != vector.get("beyond_schema", False):
            yield f"the schema is of another opinion about an invalid schedule: {vector['name']}"


def check(valid, invalid, schema):
    for vector in valid:
        text = text_of(vector)
        if schema and not schema.is_valid(json.loads(text)):
            yield f"the schema refuses a valid vector: {vector['why']}"
        if vector.get("settled") != settle(text):
            yield f"the settled form is another: {vector['why']}"
    for vector in invalid:
        if not schema or vector["code"] in ("malformed_json", "too_deep"):
            continue
        accepted = schema.is_valid(json.loads(text_of(vector)))
        if accepted != vector.get("beyond_schema", False):
            yield f"the schema {'accepts' if accepted else 'refuses'} an invalid vector: {vector['why']}"


def load(name):
    return json.loads((SCHEMA / "vectors" / f"{name}.json").read_text())


def main():
    valid, invalid, flows, wrong_flows = load("valid"), load("invalid"), load("workflows-valid"), load("workflows-invalid")
    if "--settle" in sys.argv:
        write("valid", [{**vector, "settled": settle(text_of(vector))} for vector in valid])
        write("workflows-valid", [{**vector, "plan": plan(vector["text"])} for vector in flows])
        valid, flows = load("valid"), load("workflows-valid")
    descriptions, schedules, workflows = validator() or (None, None, None)
    findings = list(check(valid, invalid, descriptions))
    right, wrong = load("schedules-valid"), load("schedules-invalid")
    findings += check_schedules(right, wrong, schedules)
    findings += check_workflows(flows, wrong_flows, workflows)
    counts = len(valid + right + flows), len(invalid + wrong + wrong_flows)
    print("\n".join(findings) or "%d valid and %d invalid vectors agree" % counts)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
