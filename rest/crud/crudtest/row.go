package crudtest

import (
	"strings"

	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/query"
)

func (s *suite) testInsert() {
	t := s.t
	a, b := s.insert(t, item("a")), s.insert(t, item("b"))
	if a.ID == 0 || b.ID == 0 || a.ID == b.ID {
		t.Errorf("the keys are %d and %d", a.ID, b.ID)
	}
	want := item("a")
	want.ID = a.ID
	equal(t, want, a)
	equal(t, want, s.get(t, a.ID))
}

func (s *suite) testGet() {
	t := s.t
	a := s.insert(t, item("a"))
	_, err := s.Get(t.Context(), a.ID+1)
	isMissing(t, err)
}

func (s *suite) testUpdate() {
	t := s.t
	a, b := s.insert(t, item("a")), s.insert(t, item("b"))

	// All fields, most of them to their zero value.
	next := Item{Slug: "c", Label: a.Label, Changed: a.Changed}
	if err := s.Update(t.Context(), a.ID, &next, nil); err != nil {
		t.Fatal(err)
	}
	want := Item{ID: a.ID, Slug: "c", Label: a.Label, Changed: a.Changed}
	equal(t, want, next)
	equal(t, want, s.get(t, a.ID))
	equal(t, b, s.get(t, b.ID))

	isMissing(t, s.Update(t.Context(), b.ID+1, &next, nil))
}

func (s *suite) testUpdateSome() {
	t := s.t
	a := s.insert(t, item("a"))
	next := item("other")
	next.Price, next.Active = 0, false
	if err := s.Update(t.Context(), a.ID, &next, []string{"price", "active"}); err != nil {
		t.Fatal(err)
	}
	want := a
	want.Price, want.Active = 0, false
	equal(t, want, next)
	equal(t, want, s.get(t, a.ID))

	if err := s.Update(t.Context(), a.ID, &next, []string{"nonsense"}); err == nil {
		t.Error("a field that is not there was updated")
	}
	isMissing(t, s.Update(t.Context(), a.ID+1, &next, []string{"price"}))
}

func (s *suite) testRemove() {
	t := s.t
	a, b := s.insert(t, item("a")), s.insert(t, item("b"))
	if err := s.Delete(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	_, err := s.Get(t.Context(), a.ID)
	isMissing(t, err)
	isMissing(t, s.Delete(t.Context(), a.ID))
	equal(t, b, s.get(t, b.ID))
	s.count(t, 1)
}

func (s *suite) testSet() {
	t := s.t
	for _, slug := range []string{"b", "a", "c"} {
		s.insert(t, item(slug))
	}
	rows, err := s.Set(t.Context()).Where(query.Where("slug__in", []string{"a", "b"})).OrderBy("slug").All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var slugs []string
	for _, row := range rows {
		slugs = append(slugs, row.Slug)
	}
	if got := strings.Join(slugs, " "); got != "a b" {
		t.Errorf("the slugs are %q, want a and b", got)
	}
}

func (s *suite) testUnique() {
	t := s.t
	a, b := s.insert(t, item("a")), s.insert(t, item("b"))
	again := item("a")
	breaks(t, s.Insert(t.Context(), &again), crud.Unique, "slug")
	s.count(t, 2)

	next := b
	next.Slug, next.Price = a.Slug, 9
	breaks(t, s.Update(t.Context(), b.ID, &next, nil), crud.Unique, "slug")
	equal(t, b, s.get(t, b.ID))

	// A row does not conflict with itself.
	same := a
	if err := s.Update(t.Context(), a.ID, &same, nil); err != nil {
		t.Error(err)
	}
}

func (s *suite) testNotNull() {
	t := s.t
	row := item("a")
	row.Label = nil
	breaks(t, s.Insert(t.Context(), &row), crud.NotNull, "label")
	s.count(t, 0)

	a := s.insert(t, item("a"))
	next := a
	next.Label = nil
	breaks(t, s.Update(t.Context(), a.ID, &next, []string{"label"}), crud.NotNull, "label")
	equal(t, a, s.get(t, a.ID))
}

func (s *suite) testForeignKey() {
	t := s.t
	nobody := int64(99)
	row := item("a")
	row.ParentID = &nobody
	breaks(t, s.Insert(t.Context(), &row), crud.ForeignKey, "parent_id")
	s.count(t, 0)

	a, b := s.insert(t, item("a")), s.insert(t, item("b"))
	next := b
	next.ParentID = &a.ID
	if err := s.Update(t.Context(), b.ID, &next, []string{"parent_id"}); err != nil {
		t.Fatal(err)
	}
	next.ParentID = &nobody
	breaks(t, s.Update(t.Context(), b.ID, &next, []string{"parent_id"}), crud.ForeignKey, "parent_id")
}

func (s *suite) testReferenced() {
	t := s.t
	a := s.insert(t, item("a"))
	b := item("b")
	b.ParentID = &a.ID
	b = s.insert(t, b)
	breaks(t, s.Delete(t.Context(), a.ID), crud.Referenced, "")
	equal(t, a, s.get(t, a.ID))
	if err := s.Delete(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), a.ID); err != nil {
		t.Errorf("nothing refers to it any more: %v", err)
	}
}

func (s *suite) testCheck() {
	t := s.t
	if !s.features.Checks {
		t.Skip("the store checks no values")
	}
	row := item("a")
	row.Price = -1
	breaks(t, s.Insert(t.Context(), &row), crud.Check, "price")
	s.count(t, 0)
}
