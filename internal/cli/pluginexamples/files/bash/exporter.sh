#!/usr/bin/env bash
# my_plugin writes a list of the result files of a run and their sizes in bytes.
cd "$(dirname "$0")" && . ./protocol.sh || exit 1

on_export() {
  local written directory file
  text artifact_directory "$1" && written=$REPLY && decode "$REPLY" || return 1
  directory=$REPLY
  for file in "$directory"/*; do
    [ ! -f "$file" ] || printf '%s %s\n' "$(wc -c <"$file")" "${file##*/}"
  done 2>/dev/null >"$directory/my_plugin.txt" || { REPLY="$directory/my_plugin.txt: cannot be written"; return 1; }
  REPLY="{\"files\":[{\"path\":\"$written/my_plugin.txt\",\"description\":\"names and sizes of the result files\"}]}"
}

serve '["export"]'
