// Package archive has the form in which stores hand over what they have: the tables and columns of
// [store.Archive], the JSON of their rows, and the file that `spool export` writes. docs/operations/moving.md
// describes it.
//
// The tables are those of the stores in this repository, which have the same columns. So a row goes from one to
// the other byte by byte. A number in an archive is a number of the table: a time is in microseconds since
// 1970. JSON stays a text.
package archive

import (
	"strings"

	"github.com/spoolhq/spool/store"
)

// Kind is the kind of a column.
type Kind byte

// The kinds of column, with the type of their values.
const (
	Text      Kind = iota // string
	Int                   // int64
	MaybeInt              // *int64
	Bool                  // bool
	MaybeBool             // *bool
	Labels                // string: a JSON object of strings with sorted keys, or ""
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
}

// Table is a table of an archive.
type Table struct {
	Name    string
	Columns []Column
	// Order sorts the rows of a section. It may name columns that are not in Columns.
	Order string
	// Of is the kind of section that has the table.
	Of store.SectionKind
}

// Thread is the table with the one row of the thread itself, which comes first in a section.
const Thread = "thread"

// Tables are the tables of the sections, in the order of their rows.
var Tables = []*Table{
	table(store.SectionThread, Thread, "id",
		"state model title owner labels:l created_at:i updated_at:i run_id last_seq:i fence:i bytes:i last_version:i",
		"expired_questions:i expired_since:i"),
	table(store.SectionThread, "run", "ord",
		"ord:i id created_at:i parent_id root_id depth:i agent started_by model state stop_reason error",
		"enqueued_at:i started_at:i ended_at:i max_steps:i steps:i attempts:i",
		"input_tokens:i cached_input_tokens:i output_tokens:i total_tokens:i segments:i place:i nested",
		"cost_micros:i currency allowance start_key nonce scopes host_state provider_options client engine_state",
		"start_hash expired_questions:i expired_since:i"),
	table(store.SectionThread, "message", "ord",
		"ord:i id agent_id role content created_at:i client_message_id run_id after_seq:i dropped:n"),
	table(store.SectionThread, "branch", "id", "id:i base run_id created_at:i"),
	table(store.SectionThread, "entry", "seq",
		"seq:i type run_id payload created_at:i stream after_fence:i after_n:i published_by published_by_tool published:b"),
	table(store.SectionThread, "park", "run_id, ord",
		"ord:i run_id tool_call_id tool_name agent_id frames step:i args shown reason occurrence:i digest state",
		"answer before landed:b created_at:i expires_at:i expiry warned:b distinct_approver:b revision"),
	table(store.SectionThread, "effect", "run_id, step, ord",
		"ord:i run_id step:i tool_call_id state result started_at:i ended_at:i"),
	table(store.SectionThread, "usage", "ord",
		"ord:i run_id agent_id agent kind step:i model model_id requested outcome",
		"input:n cache_read:n cache_write:n output:n reasoning:n guess_input:n guess_output:n",
		"cost:n currency cost_source price_version created_at:i started_at:i error_class"),
	table(store.SectionThread, "usage_line", "ord, agent_id, agent, model, model_id, currency",
		"ord:i agent_id agent model model_id currency input:i cache_read:i cache_write:i output:i reasoning:i",
		"calls:i estimated:i guess_input:i guess_output:i cost:i"),
	table(store.SectionThread, "delta", "version", "version:i seq:i at:i body"),
	table(store.SectionThread, "job", "first_due, id", jobColumns, "first_due:i due_at:i attempts:i"),
	table(store.SectionThread, "job_dead", "died_at, id", jobColumns, "due_at:i attempts:i cause died_at:i"),

	table(store.SectionOutbox, "job", "first_due, id", jobColumns, "first_due:i due_at:i attempts:i"),
	table(store.SectionOutbox, "job_dead", "died_at, id", jobColumns, "due_at:i attempts:i cause died_at:i"),

	table(store.SectionRows, "row", "key", "key value version:i updated_at:i expires_at:i"),

	table(store.SectionAudit, "audit", "seq",
		"seq:i at:i action actor actor_tenant thread_id run_id call_id job_id:i approved:m digest reason count:i address detail"),
}

// AuditEntries is how many entries of the audit log a section has.
const AuditEntries = 1000

// jobColumns are the columns that the tables of jobs share. Ids are left out: a store gives its own.
const jobColumns = "thread_id run_id key kind agent model segment:i subject queue payload"

// kinds has the suffixes of the columns in a call of table. A column without one is a text.
var kinds = map[string]Kind{"": Text, "i": Int, "n": MaybeInt, "b": Bool, "m": MaybeBool, "l": Labels}

func table(of store.SectionKind, name, order string, columns ...string) *Table {
	t := &Table{Name: name, Order: order, Of: of}
	for each := range strings.FieldsSeq(strings.Join(columns, " ")) {
		column, kind, _ := strings.Cut(each, ":")
		t.Columns = append(t.Columns, Column{column, kinds[kind]})
	}
	return t
}

// TablesOf returns the tables of a kind of section.
func TablesOf(kind store.SectionKind) []*Table {
	var all []*Table
	for _, t := range Tables {
		if t.Of == kind {
			all = append(all, t)
		}
	}
	return all
}

// List returns the names of the columns, separated by commas.
func (t *Table) List() string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

// value returns the value of a column by its name.
func (t *Table) value(values []any, column string) any {
	for i, c := range t.Columns {
		if c.Name == column {
			return values[i]
		}
	}
	return nil
}

// TextOf returns the value of a column of texts.
func (t *Table) TextOf(values []any, column string) string {
	text, _ := t.value(values, column).(string)
	return text
}

// SetText sets the value of a column of texts.
func (t *Table) SetText(values []any, column, text string) {
	for i, c := range t.Columns {
		if c.Name == column && c.Kind == Text {
			values[i] = text
		}
	}
}

// IntOf returns the value of a column of numbers that is never NULL.
func (t *Table) IntOf(values []any, column string) int64 {
	n, _ := t.value(values, column).(int64)
	return n
}
