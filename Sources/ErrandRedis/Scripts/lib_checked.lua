-- Redis does not roll back, so the script ends here, before its first write, if a key has the wrong type.
local has_seldom, is_combined = any_exists(SELDOM), any_exists(COMBINED)
local special = has_seldom or is_combined
do
  local wrong = type_error(TYPES) or (has_seldom and (type_error(SELDOM) or unroutable_type_error()))
    or (is_combined and type_error(COMBINED)) or (any_exists(AT_TIMES) and type_error(AT_TIMES))
  if wrong then return wrong end
end
