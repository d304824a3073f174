-- The rules for the groups of a queue, and for the queue as a whole: which one applies, and what it says.
local rules = {}
local function parts_of(group)
  local first, second = string.match(group, '^([^/]+)/(.+)$')
  return first or group, second
end
-- The whole queue, as a group and as a pattern.
local WHOLE_QUEUE = ''
local NO_RULE = { text = '', burst = 1, is_ordered = false, skips_dead = false, by_time = false }
-- A rule has: pattern; at_once; weight; interval (µs between two starts) and burst, if it has a rate; is_ordered and
-- skips_dead; by_time; max_waiting. The jobs of an ordered group run one at a time.
local function rule_of(group) return has('flow') and rules.of(group) or NO_RULE end
on_use(rules, function()
  -- Whether a part of a group's name matches that of a pattern, in which * stands for any characters.
  local function matches(pattern, text)
    local literals = {}
    for literal in string.gmatch(pattern .. '*', '([^*]*)%*') do literals[#literals + 1] = literal end
    local last = literals[#literals]
    if #literals == 1 then return pattern == text end
    if string.sub(text, 1, #literals[1]) ~= literals[1] then return false end
    local at = #literals[1] + 1
    for i = 2, #literals - 1 do
      local _, ends = string.find(text, literals[i], at, true)
      if not ends then return false end
      at = ends + 1
    end
    return #text - #last + 1 >= at and string.sub(text, #text - #last + 1) == last
  end

  -- The rule whose pattern has the longest literal prefix applies. A pattern without * is longer than any with one.
  local by_prefix, rule_by_group = nil, {}
  local function load_rules()
    by_prefix = { {}, {} }
    local flat = call('HGETALL', key('flow'))
    for i = 1, #flat, 2 do
      local star = string.find(flat[i], '*', 1, true)
      local prefix = star and string.sub(flat[i], 1, star - 1) or flat[i] .. '*'
      local of_parts = by_prefix[string.find(flat[i], '/', 1, true) and 2 or 1]
      of_parts[prefix] = { pattern = flat[i], text = flat[i + 1] }
    end
  end
  local function applies(rule, group)
    local first, second = parts_of(group)
    local first_pattern, second_pattern = parts_of(rule.pattern)
    return matches(first_pattern, first) and (not second or matches(second_pattern, second))
  end
  -- No two patterns with as many parts have the same prefix, so that few have to be looked at.
  local function find_rule(group)
    local of_parts = by_prefix[string.find(group, '/', 1, true) and 2 or 1]
    if of_parts[group .. '*'] then return of_parts[group .. '*'] end
    for length = #group, group == WHOLE_QUEUE and 1 or 0, -1 do
      local rule = of_parts[string.sub(group, 1, length)]
      if rule and applies(rule, group) then return rule end
    end
    return { text = '' }
  end
  local function number(text, word) return tonumber(string.match(text, '%f[%w_]' .. word .. '=(%d+)') or '') end
  function rules.of(group)
    if not by_prefix then load_rules() end
    local rule = rule_by_group[group]
    if rule then return rule end
    rule = find_rule(group)
    rule.at_once, rule.weight = number(rule.text, 'at_once'), number(rule.text, 'weight')
    local starts, window = string.match(rule.text, '%f[%w_]rate=(%d+)/(%d+)')
    if num(starts) > 0 then rule.interval = math.max(1, math.ceil(1000 * num(window) / num(starts))) end
    rule.burst = math.max(1, number(rule.text, 'burst') or 1)
    rule.is_ordered, rule.skips_dead = number(rule.text, 'ordered') == 1, number(rule.text, 'skip_dead') == 1
    if rule.is_ordered then rule.at_once = 1 end
    rule.max_waiting = number(rule.text, 'max_waiting')
    rule.by_time = number(rule.text, 'by_time') == 1
    rule_by_group[group] = rule
    return rule
  end
  function rules.forget() by_prefix, rule_by_group = nil, {} end
end)
