-- Unique names, successors, aliases and tombstones.
function steps.unique()
  each_field('unique', function(text, holder)
    local named, policy = field('unique:of', holder), nil
    if is_alive(holder) and named == text then return end
    if is_alive(holder) and not named then policy = string.match(field('body', holder), '^%d%d%d%d%d%d%d%d%d%d%d%d%d[12]([drkDRKB])') end
    if policy then finding('holder_unaware', text, function() set_field('unique:of', holder, text) end)
    else finding('lock_without_holder', text, function() delete_field('unique', text) end) end
  end)
end

steps['unique:of'] = function()
  each_field('unique:of', function(id, text)
    if not is_alive(id) then return finding('name_without_job', id, function() delete_field('unique:of', id) end) end
    local holder = field('unique', text)
    if holder == id or (holder and successor_of(holder) == id) then return end
    if repairing and holder and is_alive(holder) then return add(id) end
    finding('name_not_held', id, function() set_field('unique', text, id) end)
  end)
end

-- Whether a successor asks its holder to stop. One that only waits for the end of the run, as a schedule's may, does
-- not.
local function requests_stop(id) return string.find(string.sub(field('body', id), 15, 15), '[rR]') end

-- A job whose name another job holds, and its due time. A job without a position becomes a successor. A job with a
-- position runs from there, and would run twice if it were a successor as well.
function steps.unplaced()
  local id = name
  local text = field('unique:of', id)
  local holder = text and is_alive(id) and field('unique', text)
  if not holder or holder == id or successor_of(holder) == id then return end
  finding('name_not_held', id, function()
    if not is_alive(holder) then return set_field('unique', text, id) end
    if successor_of(holder) or not field('running', holder) then return false end
    local places, lists = all_places_of(id, entry_of(id))
    if #places + #lists > 0 then return false end
    set_field('successors', holder, whole(num(position)) .. ':' .. id)
    if requests_stop(id) and not field('stops', holder) then set_field('stops', holder, 'replace') end
  end)
end

function steps.successors()
  each_field('successors', function(holder, successor_entry)
    local id = string.match(successor_entry, '^%d+:(.+)$')
    if not (id and is_alive(holder) and is_alive(id)) then
      return finding('successor_without_job', holder, function() delete_field('successors', holder) end)
    end
    add(id)
    local text = field('unique:of', holder)
    if text and not field('unique', text) then finding('name_not_held', holder, function() set_field('unique', text, holder) end) end
    if requests_stop(id) and not field('stops', holder) then
      finding('successor_without_stop', holder, function() set_field('stops', holder, 'replace') end)
    end
  end)
end

function steps.running()
  each_field('running', function(id, session)
    local claims = claims_of(session)
    if not is_alive(id) then finding('running_without_job', id, function() delete_field('running', id) end)
    elseif not claims or call('HEXISTS', claims, id) == 0 then
      finding('running_without_claim', id, function() delete_field('running', id) end)
    end
  end)
end

-- The name that a body was pushed with, which the caller has read from it, for a job without a name.
function steps.nameless()
  local id, text = name, position
  if not is_alive(id) or field('unique:of', id) then return end
  finding('job_without_name', id, function()
    local holder = field('unique', text)
    if text == '' or (holder and holder ~= id and is_alive(holder) and successor_of(holder) ~= id) then return false end
    if not (holder and is_alive(holder)) then set_field('unique', text, id) end
    set_field('unique:of', id, text)
  end)
end

-- Side records of bodies ----------------------------------------------------------------------------------------------
function steps.side_records()
  each_field(name, function(id)
    if not has_field('body', id) or (name == 'stops' and score('dead', id)) then
      finding(name .. '_without_job', id, function() delete_field(name, id) end)
    end
  end)
end
function steps.alias()
  each_field('alias', function(entry, id)
    if field('alias:of', id) == entry and is_alive(id) then return end
    finding('alias_without_owner', entry, function()
      -- As in the next step: a dead job has no alias.
      if is_alive(id) and not field('alias:of', id) then set_field('alias:of', id, entry) else delete_field('alias', entry) end
    end)
  end)
end
steps['alias:of'] = function()
  each_field('alias:of', function(id, entry)
    if not is_alive(id) then finding('alias_of_without_job', id, function() delete_field('alias:of', id) end)
    elseif field('alias', entry) ~= id then
      finding('alias_of_without_alias', id, function()
        if field('alias', entry) then delete_field('alias:of', id) else set_field('alias', entry, id) end
      end)
    end
  end)
end
function steps.idle()
  if not has('idle') then return end
  for _, session in ipairs(scan('SSCAN', key('idle'))) do
    if not score('sessions', session) then
      finding('idle_without_session', session, function() call('SREM', key('idle'), session) end)
    end
  end
end
function steps.throttled()
  each_field('throttled', function(text, window)
    local ends = string.match(window, '^%d+:(%d+):[%w_-]+$')
    if not ends then finding('window_unreadable', text, function() delete_field('throttled', text) end)
    elseif score('throttled:ends', text) ~= ends then
      finding('window_without_end', text, function()
        call('ZADD', key('throttled:ends'), ends, text)
        known['throttled:ends'] = true
      end)
    end
  end)
end
steps['throttled:ends'] = function()
  if not has('throttled:ends') then return end
  local page = scan('ZSCAN', key('throttled:ends'))
  for i = 1, #page, 2 do
    local text = page[i]
    if not has_field('throttled', text) then
      finding('end_without_window', text, function() call('ZREM', key('throttled:ends'), text) end)
    end
  end
end
function steps.tombstones()
  each_field('tombstones', function(entry, n)
    -- No ready list of this queue holds such an entry; its bytes may be anything.
    if num(n) <= 0 or string.find(entry, '[^%w_:-]') then
      finding('tombstone_without_entry', printable(entry), function() delete_field('tombstones', entry) end)
    else
      add(entry, whole(num(n)))
    end
  end)
end
