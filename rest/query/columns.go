package query

// ColumnsOf returns the columns that a stage of this package can ask a source for, so that an
// adapter can check them before the first request does. The conditions that methods of a
// filter make are not known before they are called.
func ColumnsOf(s Stage) []*Column {
	if c, ok := s.(interface{ columns() []*Column }); ok {
		return c.columns()
	}
	return nil
}

func (s *filterStage) columns() []*Column {
	var columns []*Column
	for _, f := range s.fields {
		for _, t := range f.targets {
			columns = append(columns, t.column)
		}
	}
	return columns
}

func (s *searchStage) columns() []*Column {
	columns := make([]*Column, len(s.targets))
	for i, t := range s.targets {
		columns[i] = t.column
	}
	return columns
}

func (s *orderStage) columns() []*Column {
	columns := make([]*Column, 0, len(s.keys))
	for _, key := range s.keys {
		columns = append(columns, key.Column)
	}
	return columns
}

func (o orderDefault) columns() []*Column {
	columns := make([]*Column, len(o.keys))
	for i, key := range o.keys {
		columns[i] = key.Column
	}
	return columns
}
