package spec_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// The tables of kinds in events.md are those of wire.EntryKinds and wire.ItemKinds.
func TestTables(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("events.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	kinds := wire.EntryKinds()
	first := slices.IndexFunc(kinds, func(k wire.Kind[wire.EntryType]) bool { return k.Type == wire.NoticeStateChange })
	for name, table := range map[string]string{
		"entries": table(page, kinds[:first]), "notices": table(page, kinds[first:]), "items": table(page, wire.ItemKinds()),
	} {
		mark := "<!-- " + name + ": go test ./spec -run Tables -update -->\n"
		before, rest, found := strings.Cut(page, mark)
		_, after, ends := strings.Cut(rest, "\n\n")
		if !found || !ends {
			t.Fatalf("events.md has no place for the table of %s", name)
		}
		page = before + mark + table + "\n" + after
	}
	if *update {
		if err := os.WriteFile("events.md", []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if page != string(text) {
		t.Error("events.md has not the kinds of the code; write them with: go test ./spec -run Tables -update")
	}
}

// table returns the rows of kinds. A row links the section that the page has about its kind, or about a field.
func table[T ~string](page string, kinds []wire.Kind[T]) string {
	var rows strings.Builder
	rows.WriteString("| `type` | fields | |\n|---|---|---|\n")
	for _, k := range kinds {
		fields := fieldsOf(page, k.Of)
		if at := section(page, string(k.Type)); at != "" {
			fields = "see [below](" + at + ")"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", k.Type, fields, k.About)
	}
	return rows.String()
}

// section returns a link to the section of the third level with this title, or "" if there is none.
func section(page, title string) string {
	if strings.Contains(strings.ToLower(page), "\n### "+strings.ToLower(title)+"\n") {
		return "#" + strings.ToLower(title)
	}
	return ""
}

// fieldsOf returns the names of the fields of a payload, those that may be left out behind the others.
func fieldsOf(page string, of reflect.Type) string {
	if of == reflect.TypeFor[spool.Message]() {
		return "a [message](#messages)"
	}
	var always, optional []string
	for _, f := range reflect.VisibleFields(of) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		text := "`" + name + "`"
		if at := section(page, name); at != "" {
			text = "[" + text + "](" + at + ")"
		}
		switch {
		case options != "":
			optional = append(optional, text)
		case f.Type.Kind() == reflect.Pointer:
			always = append(always, text+" or `null`")
		default:
			always = append(always, text)
		}
	}
	all := strings.Join(always, ", ")
	if len(optional) > 0 {
		all = strings.TrimPrefix(all+"; optional: "+strings.Join(optional, ", "), "; ")
	}
	return all
}
