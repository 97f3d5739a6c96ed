#!/usr/bin/env bash
# my_plugin reads files of prompts: a line is a turn, and an empty line ends a conversation.
cd "$(dirname "$0")" && . ./protocol.sh || exit 1

on_can_load() {
  text path "$1" || return 1
  if [[ $REPLY == *.turns ]]; then REPLY='{"can_load":true}'; else REPLY='{"can_load":false}'; fi
}

on_load() {
  local path line turns=
  text path "$1" && decode "$REPLY" || return 1
  path=$REPLY
  [ -r "$path" ] || { REPLY="$path: cannot be read"; return 1; }
  while IFS= read -r line || [ -n "$line" ]; do
    if [[ $line == *[![:space:]]* ]]; then
      encode "$line"
      turns+="${turns:+,}{\"texts\":[\"$REPLY\"]}"
    elif [ -n "$turns" ]; then
      part "{\"conversations\":[{\"turns\":[$turns]}]}"
      turns=
    fi
  done <"$path"
  [ -z "$turns" ] || part "{\"conversations\":[{\"turns\":[$turns]}]}"
  REPLY='{}'
}

serve '["can_load","load"]'
