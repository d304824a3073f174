-- Parses stored bodies and ids, which may be corrupt.
local NAMELESS = '"operation":null,"name":null'
-- Characters that would break the line of an event. U+007F may appear unescaped in a JSON text.
local CONTROL = '[%z\1-\31]'

local function sound_fragment(text)
  return string.sub(text, 1, 12) == '"operation":' and text or NAMELESS
end

-- An id from a list or set may contain any bytes; in an event it must not break the line.
local function printable(id)
  return (string.gsub(string.sub(id, 1, 64), '[^%w_-]', '?'))
end

-- The header of version 2, which only jobs have that use more than version 1. The stored expiry is a time; that of
-- a blocked job is a plus sign and a duration, which counts from when the job comes free.
local NEWER_HEADER = '^2[idrktDRKB](%d);(%d+);(%d*);(%d*);(%+?%d*);(%d*);([^\n]*)\n()'

-- Whether a text is a group: one or two parts of at most 64 characters.
local function is_group(text)
  local first, second = string.match(text, '^([%w_.:@+-]+)/?([%w_.:@+-]*)$')
  return first ~= nil and #first <= 64 and #second <= 64 and string.sub(text, -1) ~= '/'
end

-- A stored body's priority, timeout, retries, event fragment, expiry, cost and group, nil for each that it lacks; nil if
-- the header is invalid.
local function header(body)
  local expiry, cost, group
  local priority, timeout, retries, length, from =
    string.match(body or '', '^1[idrktDRKB](%d);(%d*);(%d*);(%d+)\n()', 14)
  if not priority then
    priority, length, timeout, retries, expiry, cost, group, from =
      string.match(body or '', NEWER_HEADER, 14)
    if not priority then return nil end
  end
  if not string.find(body, '^%d%d%d%d%d%d%d%d%d%d%d%d%d') then return nil end
  local fragment = string.sub(body, from, from + num(length) - 1)
  if #fragment > 8192 or string.find(fragment, CONTROL) or not string.find(fragment, '^"operation":') then fragment = NAMELESS end
  if not expiry then return priority, num(timeout), retries ~= '' and num(retries) or nil, fragment end
  return priority, num(timeout), retries ~= '' and num(retries) or nil, fragment, tonumber(string.match(expiry, '^%d+$')),
    cost ~= '' and math.max(1, math.min(num(cost), 1000000)) or 1, is_group(group) and group or nil
end

-- The field of `unroutable`, and the end of its list's name, for jobs of an operation that no live session has.
local function unroutable_field(operation, body)
  local priority = header(body)
  return (priority or '5') == '5' and operation or operation .. ':' .. priority
end

-- The operation and the priority of such a field; no operation if the field is not valid.
local function parse_unroutable_field(group)
  local operation, level = string.match(group, '^([%w_.-]+):?(%d?)$')
  return operation, tonumber(level) or 5
end
