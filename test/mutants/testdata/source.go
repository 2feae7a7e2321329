// Package source has a place for each operator.
package source

import "errors"

type box[T any] struct{ n int }

func (b *box[T]) grow(most int) (bool, error) {
	defer b.note()
	if b.n < most && most != 7 {
		b.n++
	}
	b.n = b.n + 2
	err := b.check()
	if err != nil {
		return true, err
	}
	b.note()
	return b.n >= most, nil
}

func (b *box[T]) check() error {
	var err error
	if b.n == 3 {
		err = errors.New("three")
	}
	return err
}

func (b *box[T]) note() {
	b.n -= 1
}
