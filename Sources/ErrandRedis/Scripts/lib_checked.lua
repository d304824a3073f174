-- Redis does not roll back, so a key of a wrong type has to show before the first write: the script ends here.
do
  local wrong = type_error(TYPES) or (seldom_exists() and (type_error(SELDOM) or parked_type_error()))
  if wrong then return wrong end
end
