-- Redis does not roll back, so the script ends here, before its first write, if a key has the wrong type.
local special = any_exists(SELDOM)
do
  local wrong = type_error(TYPES) or (special and (type_error(SELDOM) or unroutable_type_error()))
    or (any_exists(AT_TIMES) and type_error(AT_TIMES))
  if wrong then return wrong end
end
