// Package price has pricers of model calls: by a table of rates per million tokens, by the cost that a
// provider reports, and by several pricers in turn. All of them are [price.Pricer] values, and none makes a
// request.
//
// Costs are whole millionths of a currency. A call is priced as a whole: the counts times their rates are
// added exactly, and the sum is rounded once, a half upwards.
package price
