// What is known of programs. Both lists err on the side of asking a person once more.

/**
 * Programs that run nothing of what they are given as words that are not options, nor as input, nor write to a file they
 * are given by such a word. All others might be, or have on this machine been made, something that does.
 */
const HARMLESS_PROGRAMS = setOf(`
  ls cat tac head tail wc nl od stat file du df tree basename dirname realpath readlink pwd echo which whoami id uname
  grep egrep fgrep rg cut tr sort comm cmp diff column fold rev md5sum sha1sum sha256sum sha512sum cksum jq
  mkdir touch sleep true false
`)

/**
 * Of programs that do one thing or another by their first word, the first words that are as harmless. Words that name a
 * remote, a package, a script, a configuration or a command are not: `git clone`, `npm run`, `git config`, `docker run`.
 */
const HARMLESS_COMMANDS = new Map<string, ReadonlySet<string>>([
  [
    'git',
    setOf(`
      status log show diff blame shortlog describe rev-parse rev-list ls-files ls-tree merge-base name-rev grep add
      branch tag
    `),
  ],
  ['pip', setOf('list show freeze')],
  ['cargo', setOf('build check test clippy tree')],
  ['go', setOf('list doc version')],
  ['docker', setOf('ps images logs inspect version')],
  ['kubectl', setOf('get describe logs explain version')],
])

/**
 * Commands a shell runs within itself and after which the same words may mean something else: another directory, another
 * `PATH`, an alias, a function. Programs of their own cannot do that to the shell that starts them.
 */
const CHANGES_SHELL = setOf(`
  . source eval exec command builtin cd chdir pushd popd dirs alias unalias export unset set setenv unsetenv
  setopt unsetopt shopt shift declare typeset local readonly integer float let read readarray mapfile printf print
  getopts test [ hash rehash unhash enable disable trap umask ulimit limit unlimit function functions unfunction
  autoload zmodload emulate wait bind bindkey complete compgen compopt fc history jobs bg fg disown suspend exit
  return break continue logout newgrp caller times type whence sched vared zle zstyle zparseopts zformat zcompile
  noglob abbr string argparse status fish_add_path set_color math contains path random block emit @
`)

/**
 * True of the first words of a command that runs nothing of whatever words follow, as long as these are operands: its
 * program does not, or not with such a first word. Of all others only exact words may be remembered.
 */
export function mayTakeAnyWords(argv: readonly string[]): boolean {
  const [program, command] = argv
  if (program === undefined || !argv.every(isOperand)) return false
  if (HARMLESS_PROGRAMS.has(program)) return true
  return command !== undefined && HARMLESS_COMMANDS.get(program)?.has(command) === true
}

/** True of a program that does nothing but read what is piped into it. */
export function onlyReadsInput(program: string): boolean {
  return HARMLESS_PROGRAMS.has(program)
}

/** True when the shell that ran this may run the same words otherwise from then on. */
export function changesShell(program: string): boolean {
  return CHANGES_SHELL.has(program)
}

/** True of a word that no program takes for an option, nor for a file of options. */
export function isOperand(word: string): boolean {
  return !/^[-+@]/u.test(word)
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/u).filter(word => word !== ''))
}
