# zsh -f complete.zsh FOLDER LINE...
#
# Prints what Tab offers after each line, in a zsh at a terminal whose $fpath has the folder: the words of an answer in one line.
zmodload zsh/zpty
export FOLDER=$1 OUT=$(mktemp) TERM=vt100
shift
cat >$OUT.rc <<'END'
PROMPT= ; unsetopt auto_list auto_menu
fpath=($FOLDER $fpath)
autoload -Uz compinit && compinit -u -D
# Writes down what completion would add.
compadd() {
  local -a hits
  if [[ ${@[1,(i)(-|--)]} == *-[OAD]\ * ]]; then
    builtin compadd "$@"
    return
  fi
  builtin compadd -O hits "$@"
  (( $#hits )) && print -rl -- $hits >>$OUT
  return 0
}
ends() {
  print -r -- ---- >>$OUT
  comppostfuncs=(ends)
}
comppostfuncs=(ends)
bindkey '^I' complete-word
END

# Reads what the shell writes until a word is in the file.
await() {
  local seen
  until grep -q -- $1 $OUT; do
    zpty -rt shell seen
    sleep 0.02
  done
}

zpty -b shell zsh -f -i
zpty -w shell "source $OUT.rc; print ready >$OUT"
await ready
for line; do
  : >$OUT
  zpty -w -n shell $line$'\t'
  await ----
  sort -u $OUT | grep -v -- ---- | paste -s -d ' ' -
  zpty -w -n shell $'\C-u'
done
zpty -d shell
rm -f $OUT $OUT.rc
