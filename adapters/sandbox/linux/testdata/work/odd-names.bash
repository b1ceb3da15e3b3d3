# needs: bash find
names=($'new\nline' '-rf' ' lead' 'trail ' '*' '?' '$(id)' '`id`' $'tab\t' "quo'te" 'dou"ble' 'back\slash' '#hash' '~' '日本語' '👩‍🚀' $'e\u0301' $'\u00e9' '%s' ';' '|' '&' $'\x80raw\xff' '...' 'name:with:colons' 'a=b')
for n in "${names[@]}"; do
  mkdir -- "./$n.d"
  printf '%s' "$n" >"./$n"
  mv -- "./$n" "./$n.d/"
done
[ "$(find . -type d -name '*.d' -printf x | wc -c)" = "${#names[@]}" ] # NFC and NFD stay two names
for n in "${names[@]}"; do
  cd -- "./$n.d"
  [ "$(cat -- "./$n"; echo .)" = "$n." ]
  cd ..
done
find . -name '*.d' -print0 | xargs -0 rm -r --
[ "$(ls -A | grep -v '^job')" = '' ]
