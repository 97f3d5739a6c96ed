package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// bashScript uses the output of "aiperf __complete": candidates, each with a description after a tab, then a line ":N" with the directive of package
// cobra. It needs only bash 3.2. It joins the words of COMP_WORDS again, because bash also splits them at "=" and ":".
const bashScript = `# bash completion for aiperf
__aiperf_complete() {
    local words=() word cur out line directive=0 i joined=''
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ -n $joined || $word == [=:]* ]] && __aiperf_touches "$i"; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        joined=''
        [[ $word == *[=:] ]] && joined=yes
    done
    cur=${words[${#words[@]}-1]}
    COMPREPLY=()
    out=$("${words[0]}" __complete "${words[@]:1}" 2>/dev/null) || return
    # bash replaces only the part after the last "=" or ":" of the word
    local keep=''
    [[ $COMP_WORDBREAKS == *=* && $cur == *=* ]] && keep=${cur%"${cur##*=}"}
    [[ $COMP_WORDBREAKS == *:* && $cur == *:* ]] && keep=${cur%"${cur##*:}"}
    local value=$cur
    [[ $cur == -*=* ]] && value=${cur#*=}
    local candidates=()
    while IFS= read -r line; do
        case $line in
            :[0-9]*) directive=${line#:} ;;
            *) candidates+=("${line%%$'\t'*}") ;;
        esac
    done <<<"$out"
    for line in "${candidates[@]}"; do
        [[ $line == "$value"* || $line == "$cur"* ]] && COMPREPLY+=("${line#"$keep"}")
    done
    ((${#COMPREPLY[@]})) && return
    compopt -o filenames 2>/dev/null
    if ((directive & 16)); then
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$value")
    elif ((!(directive & 4))); then
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$value")
    fi
}
# __aiperf_touches tells whether word i follows the one before it without a blank
__aiperf_touches() {
    local i text=$COMP_LINE word
    for ((i = 0; i <= $1; i++)); do
        word=${COMP_WORDS[i]}
        if ((i == $1)); then
            [[ $text == "$word"* ]]
            return
        fi
        text=${text#"${text%%[![:space:]]*}"}
        text=${text#"$word"}
    done
}
complete -F __aiperf_complete aiperf
`

func writeBash(_ *cobra.Command, w io.Writer) error {
	_, err := io.Copy(w, strings.NewReader(bashScript))
	return err
}
