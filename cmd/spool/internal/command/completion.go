package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
)

const completionHelp = `Print a script that completes commands and flags in a shell.

Usage:

  spool completion bash   for ~/.bashrc: source <(spool completion bash)
  spool completion zsh    for a folder of $fpath: spool completion zsh > _spool
  spool completion fish   spool completion fish > ~/.config/fish/completions/spool.fish
`

// completion prints the script of a shell.
func completion(ctx context.Context, args []string, h host) error {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		_, err := io.WriteString(h.stdout, completionHelp)
		return err
	}
	write := map[string]func([]completable) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	if len(args) != 1 || write[args[0]] == nil {
		return usagef("completion wants bash, zsh or fish")
	}
	_, err := io.WriteString(h.stdout, write[args[0]](completions(ctx)))
	return err
}

// completable is a command, or a command below another one, with its flags.
type completable struct {
	name, help string
	// of is the command above. Empty: there is none.
	of    string
	subs  []string
	flags []completableFlag
}

// completableFlag is a flag. A switch takes no value.
type completableFlag struct {
	name, help string
	value      bool
}

// flagLine is a flag in the text of a help.
var flagLine = regexp.MustCompile(`(?m)^ +--([a-z][a-z0-9-]*)( [A-Z][A-Z:_]*)?(?:  +(\S.*))?$`)

// completions returns all commands with their flags, which are those of their help.
func completions(ctx context.Context) []completable {
	var all []completable
	for _, c := range commands() {
		all = append(all, completable{name: c.name, help: c.help, subs: c.subs, flags: flagsIn(ctx, c, "")})
		for _, sub := range c.subs {
			each := completable{name: sub, of: c.name}
			if each.flags = all[len(all)-1].flags; c.name == "admin" {
				each.flags = flagsIn(ctx, c, sub)
			}
			for _, a := range adminCommands() {
				if c.name == "admin" && a.name == sub {
					each.help = a.help
				}
			}
			all = append(all, each)
		}
	}
	return all
}

// flagsIn returns the flags in the help of a command, and --help.
func flagsIn(ctx context.Context, c commandLine, sub string) []completableFlag {
	flags := []completableFlag{{name: "help", help: "print the help"}}
	if c.name == "help" || c.name == "version" {
		return nil
	}
	args := []string{"--help"}
	if sub != "" {
		args = []string{sub, "--help"}
	}
	var out bytes.Buffer
	none := func(string) (string, bool) { return "", false }
	_ = c.run(ctx, args, host{&out, io.Discard, none, func() []string { return nil }, strings.NewReader("")})
	for _, m := range flagLine.FindAllStringSubmatch(out.String(), -1) {
		flags = append(flags, completableFlag{m[1], m[3], m[2] != ""})
	}
	return flags
}

func words[T any](list []T, word func(T) string) string {
	var out []string
	for _, each := range list {
		out = append(out, word(each))
	}
	return strings.Join(out, " ")
}

func bashScript(all []completable) string {
	var b strings.Builder
	b.WriteString("# bash completion of spool\n_spool() {\n  local cur=${COMP_WORDS[COMP_CWORD]} key=${COMP_WORDS[1]} words=\n")
	b.WriteString("  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words=\"" +
		words(top(all), func(c completable) string { return c.name }) + "\"\n  else\n")
	b.WriteString("    case \"$key ${COMP_WORDS[2]}\" in\n")
	for _, c := range all {
		if c.of != "" {
			fmt.Fprintf(&b, "      \"%s %s\") [ \"$COMP_CWORD\" -gt 2 ] && key=\"%s %s\" ;;\n", c.of, c.name, c.of, c.name)
		}
	}
	b.WriteString("    esac\n    case \"$key\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "      %q)\n", strings.TrimSpace(c.of+" "+c.name))
		fmt.Fprintf(&b, "        case \"$cur\" in\n          -*) words=\"%s\" ;;\n",
			words(c.flags, func(f completableFlag) string { return "--" + f.name }))
		if len(c.subs) > 0 {
			fmt.Fprintf(&b, "          *) [ \"$COMP_CWORD\" -eq 2 ] && words=\"%s\" ;;\n", strings.Join(c.subs, " "))
		}
		b.WriteString("        esac ;;\n")
	}
	b.WriteString("    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n" +
		"complete -o default -F _spool spool\n")
	return b.String()
}

func top(all []completable) []completable {
	var out []completable
	for _, c := range all {
		if c.of == "" {
			out = append(out, c)
		}
	}
	return out
}

// zshWord returns a word with its description, in quotes.
func zshWord(name, help string) string {
	return "'" + strings.ReplaceAll(name+":"+strings.ReplaceAll(help, ":", "\\:"), "'", `'\''`) + "'"
}

func zshScript(all []completable) string {
	var b strings.Builder
	b.WriteString("#compdef spool\n_spool() {\n  local -a list\n  local key=$words[2]\n  if (( CURRENT == 2 )); then\n    list=(\n")
	for _, c := range top(all) {
		fmt.Fprintf(&b, "      %s\n", zshWord(c.name, c.help))
	}
	b.WriteString("    )\n    _describe command list\n    return\n  fi\n  case \"$words[2] $words[3]\" in\n")
	for _, c := range all {
		if c.of != "" {
			fmt.Fprintf(&b, "    '%s %s') (( CURRENT > 3 )) && key='%s %s' ;;\n", c.of, c.name, c.of, c.name)
		}
	}
	b.WriteString("  esac\n  case \"$key\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "    '%s')\n", strings.TrimSpace(c.of+" "+c.name))
		if len(c.subs) > 0 {
			b.WriteString("      if (( CURRENT == 3 )) && [[ $words[CURRENT] != -* ]]; then\n        list=(\n")
			for _, sub := range all {
				if sub.of == c.name {
					fmt.Fprintf(&b, "          %s\n", zshWord(sub.name, sub.help))
				}
			}
			b.WriteString("        )\n        _describe command list\n        return\n      fi\n")
		}
		b.WriteString("      list=(\n")
		for _, f := range c.flags {
			fmt.Fprintf(&b, "        %s\n", zshWord("--"+f.name, f.help))
		}
		b.WriteString("      ) ;;\n")
	}
	b.WriteString("  esac\n  if [[ $words[CURRENT] == -* ]]; then _describe flag list; else _files; fi\n}\n")
	// A file of $fpath is the function itself, which has to answer the first time too.
	b.WriteString("if [[ $funcstack[1] == _spool ]]; then _spool \"$@\"; else compdef _spool spool; fi\n")
	return b.String()
}

func fishScript(all []completable) string {
	var b strings.Builder
	quote := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
	}
	b.WriteString("# fish completion of spool\n")
	for _, c := range all {
		here := "__fish_seen_subcommand_from " + c.name
		switch c.of {
		case "":
			fmt.Fprintf(&b, "complete -c spool -n __fish_use_subcommand -f -a %s -d %s\n", c.name, quote(c.help))
		default:
			var others []string
			for _, each := range all {
				if each.of == c.of {
					others = append(others, each.name)
				}
			}
			fmt.Fprintf(&b, "complete -c spool -n %s -f -a %s -d %s\n",
				quote("__fish_seen_subcommand_from "+c.of+"; and not __fish_seen_subcommand_from "+strings.Join(others, " ")),
				c.name, quote(c.help))
			here = "__fish_seen_subcommand_from " + c.of + "; and " + here
		}
		for _, f := range c.flags {
			value := ""
			if f.value {
				value = " -r"
			}
			fmt.Fprintf(&b, "complete -c spool -n %s -l %s%s -d %s\n", quote(here), f.name, value, quote(f.help))
		}
	}
	return b.String()
}
