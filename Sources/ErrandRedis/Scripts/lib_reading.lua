-- The common start of scripts that only read: a key of a wrong type ends them with an error that names it.
call = function(command, name, ...)
  local reply = redis.pcall(command, name, ...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if string.sub(reply.err, 1, 9) == 'WRONGTYPE' then
    error({ err = 'WRONGTYPE the key ' .. name .. ' is a ' .. redis.call('TYPE', name).ok .. ', which it must not be' })
  end
  error(reply)
end
