-- The time of the call. The usual call of an idle queue does not need it.
local now, clock = read_clock()
local nowtext = whole(now)
