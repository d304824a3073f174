-- Redis does not roll back, so a key of a wrong type has to show before the first write: the script ends here.
local special = any_exists(SELDOM)
do
  local wrong = type_error(TYPES) or (special and (type_error(SELDOM) or unroutable_type_error()))
    or (any_exists(AT_TIMES) and type_error(AT_TIMES))
  if wrong then return wrong end
end
