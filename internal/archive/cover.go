package archive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Uncovered compares the tables of an archive with those of a database, for the tests of stores. It returns a line
// for each table or column of the database that an archive would lose, and for each that the database lacks. Names
// has the names of tables that differ in the database. LeftOut has the names of tables and columns ("table.column")
// that an archive leaves out, where "*" stands for any table.
func Uncovered(have map[string][]string, names map[string]string, leftOut ...string) []string {
	covered := make(map[string][]string)
	for _, t := range Tables {
		name := t.Name
		if other, ok := names[name]; ok {
			name = other
		}
		for _, c := range t.Columns {
			if !slices.Contains(covered[name], c.Name) {
				covered[name] = append(covered[name], c.Name)
			}
		}
	}
	var wrong []string
	for _, table := range slices.Sorted(maps.Keys(have)) {
		if slices.Contains(leftOut, table) {
			continue
		}
		for _, column := range have[table] {
			known := slices.Contains(covered[table], column) || slices.Contains(leftOut, table+"."+column) ||
				slices.Contains(leftOut, "*."+column)
			if !known {
				wrong = append(wrong, fmt.Sprintf("an archive has no %s.%s: add it to internal/archive, or say why it is left out",
					table, column))
			}
		}
	}
	for _, table := range slices.Sorted(maps.Keys(covered)) {
		for _, column := range covered[table] {
			if !slices.Contains(have[table], column) {
				wrong = append(wrong, "the database has no "+strings.Join([]string{table, column}, "."))
			}
		}
	}
	return wrong
}
