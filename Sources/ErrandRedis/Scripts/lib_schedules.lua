-- Schedules: what is stored of one, and whether it is still what a caller read.
local function is_name(name) return #name >= 1 and #name <= 128 and not string.find(name, '[^%w_.-]') end
local function is_time(text) return text == '' or (#text <= 13 and string.find(text, '^%d+$') ~= nil) end
local function digest_of(definition) return definition and redis.sha1hex(definition) or '' end
