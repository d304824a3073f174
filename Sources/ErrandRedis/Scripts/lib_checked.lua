-- Redis does not roll back, so the script ends here, before its first write, if a key has the wrong type.
local has_seldom, is_combined = false, false
do
  local wrong = type_error(TYPES)
  if not wrong and any_exists(SELDOM, COMBINED, AT_TIMES) then
    has_seldom, is_combined = any_exists(SELDOM), any_exists(COMBINED)
    wrong = (has_seldom and (type_error(SELDOM) or unroutable_type_error())) or (is_combined and type_error(COMBINED)) or type_error(AT_TIMES)
  end
  if wrong then return wrong end
end
local special = has_seldom or is_combined
