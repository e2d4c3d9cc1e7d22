package cpu

// ordersAhead is how many orders are read ahead together: they take some ten lines of the cache each.
const ordersAhead = 32

// readAhead reads the orders of starts from one net edge. Where many patterns are registered they are in no cache, and each begins with reads that
// wait for each other; those of several orders overlap. Of orders that end with the anchor only what tells so is read.
func (w *worker) readAhead(starts []start) {
	read, live := 0, w.live[:0]
	for i := range starts {
		read += starts[i].order.tail
	}
	for i := range starts {
		read += int(starts[i].order.kinds[0])
	}
	last, f := w.se.filled.o, &w.se.frames[min(2, len(w.se.frames)-1)]
	none := f.valid && (f.none || len(f.nbr) == 0) && len(last.kinds) > 2
	for i := range starts {
		o := starts[i].order
		if !none || len(o.kinds) < 3 || o.kinds[2] != last.kinds[2] {
			live = append(live, o)
			for k := range o.steps[:min(4, len(o.steps))] {
				read += o.steps[k].slot + len(o.steps[k].back)
			}
		}
	}
	for _, o := range live {
		for k := 2; k < min(4, len(o.steps)); k++ {
			read += o.steps[k].back[0].column
		}
	}
	w.read += read
	w.live = live
}
