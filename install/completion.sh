# Completes quadrille's commands, their options, names of collectives and algorithms, and files.
_quadrille() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W 'calibrate check choose compare doctor emit generate list preload prove replay report rules run show simulate trace tune --help --version' -- "$word"))
  elif [ "$word" != "${word#-}" ]; then
    COMPREPLY=($(compgen -W "$(quadrille "$command" --help 2>/dev/null | grep -oE -- '--[a-z_-]+' | sort -u)" -- "$word"))
  elif [[ $command =~ ^(generate|choose|compare)$ ]] && [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W "$(quadrille list 2>/dev/null | sed -n 's/^\([a-z-]*\) .*/\1/p' | sort -u)" -- "$word"))
  elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = --algorithm ]; then
    COMPREPLY=($(compgen -W "$(quadrille list 2>/dev/null | sed -n "s/^${COMP_WORDS[2]} \([^ ]*\).*/\1/p" | sort -u)" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _quadrille quadrille
