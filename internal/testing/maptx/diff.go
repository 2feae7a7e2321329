package maptx

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Start is when the tables begin: [Diff] writes a time as the time since then.
var Start = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

// Diff says what has changed between two states of a thread, one line for each row: a new row has "+" and its
// fields, a row that is gone has "-", and any other row the fields that have changed, with "-" for a zero value.
// It leaves out what a store sets itself. Random ids are numbered. "" says that nothing has changed.
func Diff(before, after *Tx) string {
	var lines []string
	lines = append(lines, compared("thread", one(before.Rows.Thread), one(after.Rows.Thread),
		func(wire.Thread) string { return "" })...)
	lines = append(lines, compared("run ", before.Rows.Runs, after.Rows.Runs,
		func(r store.RunRow) string { return string(r.ID) })...)
	lines = append(lines, compared("message ", before.Rows.Messages, after.Rows.Messages,
		func(m spool.Message) string { return string(m.ID) })...)
	lines = append(lines, compared("branch ", before.Rows.Branches, after.Rows.Branches,
		func(b Branch) string { return strconv.FormatInt(int64(b.ID), 10) })...)
	lines = append(lines, compared("entry ", before.Rows.Entries, after.Rows.Entries,
		func(e wire.Entry) string { return strconv.FormatInt(e.Seq, 10) })...)
	lines = append(lines, compared("park ", before.Rows.Parks, after.Rows.Parks,
		func(p store.Park) string { return string(p.ToolCallID) })...)
	lines = append(lines, compared("effect ", before.Rows.Effects, after.Rows.Effects,
		func(e store.Effect) string { return string(e.ToolCallID) })...)
	for i, row := range after.Rows.Usage[len(before.Rows.Usage):] {
		lines = append(lines, compared("usage ", nil, []wire.UsageRow{row},
			func(wire.UsageRow) string { return strconv.Itoa(len(before.Rows.Usage) + i + 1) })...)
	}
	lines = append(lines, compared("job ", before.Rows.Jobs, after.Rows.Jobs,
		func(j wire.QueuedJob) string { return j.Key })...)
	lines = append(lines, compared("dead ", before.Rows.Dead, after.Rows.Dead,
		func(j wire.QueuedJob) string { return strconv.FormatInt(j.JobID, 10) })...)
	lines = append(lines, compared("audit ", before.Rows.Audit, after.Rows.Audit,
		func(e wire.AuditEntry) string { return strconv.FormatInt(e.Seq, 10) })...)
	lines = append(lines, compared("row ", nil, after.Rows.Outside[len(before.Rows.Outside):],
		func(r store.Row) string { return r.Key })...)
	return Plain(after, strings.Join(lines, "\n"))
}

func one(t *wire.Thread) []wire.Thread {
	if t == nil {
		return nil
	}
	return []wire.Thread{*t}
}

// compared returns a line for each row that is new, gone or has changed.
func compared[T any](kind string, before, after []T, name func(T) string) (lines []string) {
	was := make(map[string]reflect.Value, len(before))
	for _, row := range before {
		was[name(row)] = reflect.ValueOf(row)
	}
	for _, row := range after {
		old, there := was[name(row)]
		delete(was, name(row))
		sign := ""
		if !there {
			old, sign = reflect.ValueOf(*new(T)), "+ "
		}
		if changed := changes(old, reflect.ValueOf(row)); changed != "" || !there {
			lines = append(lines, sign+kind+name(row)+changed)
		}
	}
	for _, row := range before {
		if _, gone := was[name(row)]; gone {
			lines = append(lines, "- "+kind+name(row))
		}
	}
	return lines
}

// byStore are fields that the store sets, or that name the row.
var byStore = map[string]bool{
	"Tenant": true, "ThreadID": true, "ID": true, "UpdatedAt": true, "LastSeq": true, "Seq": true, "AfterSeq": true,
	"Nonce": true, "Key": true, "QueuedJob.JobID": true, "FirstDue": true, "DiedAt": true, "At": true,
	"Thread.CreatedAt": true, "Run.CreatedAt": true, "Message.CreatedAt": true, "Entry.CreatedAt": true,
	"UsageRow.CreatedAt": true, "Branch.CreatedAt": true,
}

// changes returns the fields of a row that differ.
func changes(before, after reflect.Value) string {
	var b strings.Builder
	for i := range after.NumField() {
		f := after.Type().Field(i)
		switch {
		case f.Anonymous:
			b.WriteString(changes(before.Field(i), after.Field(i)))
		case byStore[f.Name] || byStore[after.Type().Name()+"."+f.Name]:
		default:
			if was, is := text(before.Field(i)), text(after.Field(i)); was != is {
				b.WriteString(" " + f.Name + "=" + is)
			}
		}
	}
	return b.String()
}

// text returns a value in a short form, and "-" for a zero one.
func text(v reflect.Value) string {
	if v.IsZero() {
		return "-"
	}
	switch value := v.Interface().(type) {
	case time.Time:
		return value.Sub(Start).String()
	case json.RawMessage:
		return strings.ReplaceAll(string(value), `"`, "")
	case fmt.Stringer:
		return value.String()
	}
	switch v.Kind() {
	case reflect.Pointer:
		switch zero := v.Elem().IsZero(); {
		case zero && v.Elem().Kind() == reflect.Struct:
			return "{}"
		case zero:
			return fmt.Sprint(v.Elem())
		}
		return text(v.Elem())
	case reflect.Slice:
		all := make([]string, v.Len())
		for i := range all {
			all[i] = text(v.Index(i))
		}
		return "[" + strings.Join(all, " ") + "]"
	case reflect.Struct:
		return "{" + strings.TrimPrefix(changes(reflect.Zero(v.Type()), v), " ") + "}"
	default:
		return fmt.Sprint(v)
	}
}

var (
	randomIDs = regexp.MustCompile(`\b(msg|budget|thr|run)_[0-9a-z]{10,}`)
	times     = regexp.MustCompile(`2030-01-\d\dT[0-9:.]+Z`)
	hashes    = regexp.MustCompile(`(sha256:[0-9a-f]{4})[0-9a-f]+`)
)

// Plain makes the random ids, the times and the hashes of a text short. The id of a message becomes its number in the
// order of writing. A hash next to a random id is random too.
func Plain(tx *Tx, s string) string {
	names := make(map[string]string)
	number := func(id string) string {
		if names[id] == "" {
			prefix, _, _ := strings.Cut(id, "_")
			names[id] = prefix + strconv.Itoa(len(names)+1)
		}
		return names[id]
	}
	for _, m := range tx.Rows.added {
		number(string(m.ID))
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		hash := "$1"
		if random := randomIDs.FindString(line); strings.HasPrefix(random, "budget") {
			hash = "sha256"
		}
		lines[i] = randomIDs.ReplaceAllStringFunc(hashes.ReplaceAllString(line, hash), number)
	}
	s = strings.Join(lines, "\n")
	return times.ReplaceAllStringFunc(s, func(at string) string {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return at
		}
		return t.Sub(Start).String()
	})
}
