# Protocol 1 of aiperf's plug-ins (docs/plugins.md) for bash 4.2 or later, without other programs. Bash has no JSON: these functions read and write texts, and
# rely on what aiperf promises: no spaces between tokens, and the fields of a call in the order of the documentation. Values that are deeper need a program
# in another language. Bash reads its input byte by byte, about a million bytes a second.
export LC_ALL=C.UTF-8

# text NAME CALL: sets REPLY to the first field NAME of a call, a text, as it is written in JSON; fails if there is none
text() {
  local rest=${2#*"\"$1\":\""} piece slashes
  [ "$rest" != "$2" ] || return 1
  REPLY=
  while true; do
    piece=${rest%%\"*}
    REPLY+=$piece
    slashes=${piece##*[!\\]}
    ((${#slashes} % 2)) || return 0
    REPLY+='"' rest=${rest#*\"}
  done
}

# decode TEXT: sets REPLY to the text that is written so in JSON
decode() { printf -v REPLY '%b' "$1"; }

# encode TEXT: sets REPLY to a text as it is written in JSON, without the quotation marks
encode() {
  local i c
  REPLY=${1//\\/\\\\}
  REPLY=${REPLY//\"/\\\"}
  [[ $REPLY == *[[:cntrl:]]* ]] || return 0
  for i in {1..31}; do
    printf -v c '%b' "\\x$(printf %x "$i")"
    REPLY=${REPLY//"$c"/"$(printf '\\u%04x' "$i")"}
  done
}

# serve METHODS: answers aiperf until it closes the input. METHODS are those of the greeting, in JSON. A call of the method m runs on_m with the call
# itself. It sets REPLY to the result, or fails with the error in REPLY. It sends parts of a result with part.
serve() {
  local line
  IFS= read -r line || return 0
  printf '{"type":"hello","protocol":1,"methods":%s,"metadata":{}}\n' "$1"
  while IFS= read -r line; do
    [[ $line =~ ^\{\"id\":([0-9]+),\"method\":\"([a-z_]+)\" ]] || { echo 'not a call of aiperf' >&2; return 1; }
    id=${BASH_REMATCH[1]}
    REPLY=
    if [[ $1 != *"\"${BASH_REMATCH[2]}\""* ]]; then
      printf '{"id":%s,"error":{"message":"unknown method %s"}}\n' "$id" "${BASH_REMATCH[2]}"
    elif "on_${BASH_REMATCH[2]}" "$line"; then
      printf '{"id":%s,"result":%s}\n' "$id" "$REPLY"
    else
      encode "$REPLY"
      printf '{"id":%s,"error":{"message":"%s"}}\n' "$id" "$REPLY"
    fi
  done
}

# part TEXT: sends a part, in JSON, of the result of this call
part() { printf '{"id":%s,"part":%s}\n' "$id" "$1"; }
