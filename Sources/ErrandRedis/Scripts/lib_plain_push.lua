-- The push of one job without a name, a group or a priority: the most common one of web backends, so it comes before
-- everything that other pushes need. A push that meets anything else, such as a setting, a job that is known, or a wrong
-- type of a key that it uses, goes on with the whole script.
do
  local pcall = redis.pcall
  -- The timeout and the operation of a job.
  local function read_plain(id, due, policy, name, envelope)
    if policy ~= 'i' or due ~= '0' or name ~= '' or #id > 64 or #envelope > 1200000 or not string.find(id, '^%w+$') then return end
    local timeout, from = string.match(envelope, '^1i5;(%d*);%d*;%d+\n()')
    return timeout, timeout and string.match(envelope, '^"operation":"([%w_.-]+)"', from)
  end
  -- Whether all keys that the push uses have their types, and the job is new.
  local function is_new(id)
    for _, name in ipairs({ 'body', 'ended', 'ended:old' }) do
      if pcall('HEXISTS', key(name), id) ~= 0 then return false end
    end
    return type(pcall('HLEN', key('counters'))) == 'number' and type(pcall('HLEN', key('runtime'))) == 'number'
      and type(pcall('SCARD', key('idle'))) == 'number' and type(pcall('ZCARD', key('sessions'))) == 'number'
  end
  local function is_unusual()
    return call('EXISTS', key('settings'), key('alias'), key('tombstones'), key('flow'), key('resting')) > 0
  end
  local function push_plain(id, envelope, timeout, operation)
    local ready, body = key('ready:5'), key('body')
    local waiting = pcall('LLEN', ready)
    if type(waiting) ~= 'number' or not is_new(id) or is_unusual() then return end
    known.settings = false
    local stored, text = call('HLEN', body), stamp .. envelope
    if stored >= MOST_JOBS then return end
    local is_first = stored == 0 and call('HLEN', key('counters')) == 0
    call('HSET', body, id, text)
    call('RPUSH', ready, id)
    count('pushed')
    add_totals()
    if waiting == 0 then
      dispatch = function(session, lease_ends)
        return dispatch_job(id, text, '5', num(timeout), operation, session, lease_ends, function() return is_only_list('5') end)
      end
    end
    wake(1)
    return { is_first and 1 or 0, 'a' }
  end
  if #ARGV == 5 then
    local timeout, operation = read_plain(unpack(ARGV))
    local reply = timeout and push_plain(ARGV[1], ARGV[5], timeout, operation)
    if reply then return reply end
  end
end
