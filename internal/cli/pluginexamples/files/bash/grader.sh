#!/usr/bin/env bash
# my_plugin grades answers: the last line of the answer must be the truth, whatever the case.
cd "$(dirname "$0")" && . ./protocol.sh || exit 1

# trim TEXT: sets REPLY to the text without white space around it
trim() {
  REPLY=${1#"${1%%[![:space:]]*}"}
  REPLY=${REPLY%"${REPLY##*[![:space:]]}"}
}

on_grade() {
  local answer truth
  text response_text "$1" && decode "$REPLY" && trim "$REPLY" || return 1
  trim "${REPLY##*$'\n'}"
  answer=$REPLY
  text ground_truth "$1" && decode "$REPLY" && trim "$REPLY" || return 1
  truth=$REPLY
  if [ -z "$answer" ]; then
    REPLY='{"correct":false,"unparsed":true,"confidence":0}' # no answer was found in the text
    return
  fi
  encode "$answer"
  if [ "${answer,,}" = "${truth,,}" ]; then
    REPLY="{\"correct\":true,\"unparsed\":false,\"confidence\":1,\"extracted_answer\":\"$REPLY\"}"
  else
    REPLY="{\"correct\":false,\"unparsed\":false,\"confidence\":1,\"extracted_answer\":\"$REPLY\"}"
  fi
}

serve '["grade"]'
