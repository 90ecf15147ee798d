"""
Calls of a model without Python code in between: for arrays of shapes that it was called with before.

`aicc_python_call(self, given)` is a function of CPython's C interface. `given` is a dictionary of arrays by name or a
tuple of them. If the arrays have exactly the types and shapes of a call that was made before, it makes fresh results,
runs the program without the interpreter's lock and gives back a dictionary or a tuple; in any other case `None`, and
the caller goes the long way (`aicc.runtime.calls`), which checks and explains. So it does while another thread is in
here: the tables that programs read are there once.

It calls nothing by name but `aicc_run`: what it needs of CPython and numpy it finds in the table that `self`, an array
of words, shows (`FIELDS`), from `aicc.runtime.python_interface`.
"""

from __future__ import annotations

from functools import cache

from aicc.runtime.python_interface import ALIGNED, ARRAY, CONTIGUOUS, NUMPY, PYTHON, WRITABLE

FIELDS = (
    # Whether it runs; numbers of inputs and outputs; the first `Plan`; what the state of all threads is in.
    *("busy", "inputs", "outputs", "plans", "shares"),
    # Tables of pointers to names, and to arrays at hand.
    *("input_names", "output_names", "held", "made"),
    *("dict", "tuple", "array", "none", "bytes"),
    *PYTHON,
    *NUMPY,
)
"""The words of the table."""

PLAN_FIELDS = ("next", "main", "buffers", "sizes", "threads", "spins", "runs", "inputs", "outputs", "arenas", "count")
"""The words that describe a combination of shapes; `count` is the number of arenas."""

INPUT_FIELDS = ("dtype", "rank", "shape", "slot")
OUTPUT_FIELDS = ("dtype", "rank", "shape", "slot", "room", "take", "arguments")
"""`room`: bytes to allocate, or `take` is called with `arguments`, and gives a tuple whose first is the array."""
ARENA_FIELDS = ("slot", "take", "size", "give", "at_hand")
"""`take` is called with `size` before a run, and `give` with what it gave after it."""

_TEXT = """
declare void @aicc_run(ptr, ptr, ptr, i64, i64)

define internal i64 @word(ptr %table, i64 %index) alwaysinline {
  %place = getelementptr i64, ptr %table, i64 %index
  %value = load i64, ptr %place
  ret i64 %value
}

define internal ptr @pointer(ptr %table, i64 %index) alwaysinline {
  %place = getelementptr ptr, ptr %table, i64 %index
  %value = load ptr, ptr %place
  ret ptr %value
}

define internal void @put(ptr %table, i64 %index, ptr %value) alwaysinline {
  %place = getelementptr ptr, ptr %table, i64 %index
  store ptr %value, ptr %place
  ret void
}

define internal void @retain(ptr %head, ptr %object) alwaysinline {
  %increment = call ptr @pointer(ptr %head, i64 $Py_IncRef)
  call void %increment(ptr %object)
  ret void
}

; Drops the first `count` objects of a table.
define internal void @drop(ptr %head, i64 %table, i64 %count) {
entry:
  %objects = call ptr @pointer(ptr %head, i64 %table)
  %decrement = call ptr @pointer(ptr %head, i64 $Py_DecRef)
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%k.next, %body]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %done
body:
  %object = call ptr @pointer(ptr %objects, i64 %k)
  call void %decrement(ptr %object)
  %k.next = add i64 %k, 1
  br label %loop
done:
  ret void
}

; Whether an array has the dtype and shape that an input has.
define internal i1 @fits(ptr %array, ptr %input) {
entry:
  %dtype = call ptr @pointer(ptr %array, i64 $array.dtype)
  %expected.dtype = call ptr @pointer(ptr %input, i64 $input.dtype)
  %same.dtype = icmp eq ptr %dtype, %expected.dtype
  %rank.place = getelementptr i64, ptr %array, i64 $array.rank
  %rank.int = load i32, ptr %rank.place
  %rank = zext i32 %rank.int to i64
  %expected.rank = call i64 @word(ptr %input, i64 $input.rank)
  %same.rank = icmp eq i64 %rank, %expected.rank
  %alike = and i1 %same.dtype, %same.rank
  br i1 %alike, label %start, label %no
start:
  %shape = call ptr @pointer(ptr %array, i64 $array.shape)
  %expected.shape = call ptr @pointer(ptr %input, i64 $input.shape)
  br label %loop
loop:
  %k = phi i64 [0, %start], [%k.next, %body]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %body, label %yes
body:
  %size = call i64 @word(ptr %shape, i64 %k)
  %expected = call i64 @word(ptr %expected.shape, i64 %k)
  %same = icmp eq i64 %size, %expected
  %k.next = add i64 %k, 1
  br i1 %same, label %loop, label %no
yes:
  ret i1 1
no:
  ret i1 0
}

; A fresh array for an output, aligned; null if there is no memory.
define internal ptr @fresh(ptr %head, ptr %output) {
entry:
  %take = call ptr @pointer(ptr %output, i64 $output.take)
  %small = icmp eq ptr %take, null
  br i1 %small, label %allocate, label %call
call:
  %call.object = call ptr @pointer(ptr %head, i64 $PyObject_CallObject)
  %arguments = call ptr @pointer(ptr %output, i64 $output.arguments)
  %pair = call ptr %call.object(ptr %take, ptr %arguments)
  %refused = icmp eq ptr %pair, null
  br i1 %refused, label %failed, label %taken
taken:
  %get = call ptr @pointer(ptr %head, i64 $PyTuple_GetItem)
  %first = call ptr %get(ptr %pair, i64 0)
  call void @retain(ptr %head, ptr %first)
  %decrement = call ptr @pointer(ptr %head, i64 $Py_DecRef)
  call void %decrement(ptr %pair)
  ret ptr %first
allocate:
  %new = call ptr @pointer(ptr %head, i64 $PyArray_NewFromDescr)
  %type = call ptr @pointer(ptr %head, i64 $array)
  %bytes = call ptr @pointer(ptr %head, i64 $bytes)
  call void @retain(ptr %head, ptr %bytes)
  %room = getelementptr i64, ptr %output, i64 $output.room
  %raw = call ptr %new(ptr %type, ptr %bytes, i32 1, ptr %room, ptr null, ptr null, i32 0, ptr null)
  %none = icmp eq ptr %raw, null
  br i1 %none, label %failed, label %align
align:
  %start = call i64 @word(ptr %raw, i64 $array.data)
  %raised = add i64 %start, 63
  %aligned = and i64 %raised, -64
  %data = inttoptr i64 %aligned to ptr
  %dtype = call ptr @pointer(ptr %output, i64 $output.dtype)
  call void @retain(ptr %head, ptr %dtype)
  %rank = call i64 @word(ptr %output, i64 $output.rank)
  %rank.int = trunc i64 %rank to i32
  %shape = call ptr @pointer(ptr %output, i64 $output.shape)
  %made = call ptr %new(
    ptr %type, ptr %dtype, i32 %rank.int, ptr %shape, ptr null, ptr %data, i32 $writable, ptr null)
  %bad = icmp eq ptr %made, null
  br i1 %bad, label %give, label %own
give:
  %decrement.raw = call ptr @pointer(ptr %head, i64 $Py_DecRef)
  call void %decrement.raw(ptr %raw)
  br label %failed
own:
  %set.base = call ptr @pointer(ptr %head, i64 $PyArray_SetBaseObject)
  %status = call i32 %set.base(ptr %made, ptr %raw)
  ret ptr %made
failed:
  ret ptr null
}

; Takes the arenas of a plan; returns how many could be had.
define internal i64 @take_arenas(ptr %head, ptr %plan) {
entry:
  %count = call i64 @word(ptr %plan, i64 $plan.count)
  %arenas = call ptr @pointer(ptr %plan, i64 $plan.arenas)
  %buffers = call ptr @pointer(ptr %plan, i64 $plan.buffers)
  %call = call ptr @pointer(ptr %head, i64 $PyObject_CallOneArg)
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%k.next, %had]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %done
body:
  %place = mul i64 %k, $arena.words
  %arena = getelementptr i64, ptr %arenas, i64 %place
  %take = call ptr @pointer(ptr %arena, i64 $arena.take)
  %size = call ptr @pointer(ptr %arena, i64 $arena.size)
  %taken = call ptr %call(ptr %take, ptr %size)
  %none = icmp eq ptr %taken, null
  br i1 %none, label %done, label %had
had:
  call void @put(ptr %arena, i64 $arena.at_hand, ptr %taken)
  %data = call ptr @pointer(ptr %taken, i64 $array.data)
  %slot = call i64 @word(ptr %arena, i64 $arena.slot)
  call void @put(ptr %buffers, i64 %slot, ptr %data)
  %k.next = add i64 %k, 1
  br label %loop
done:
  ret i64 %k
}

; Gives the first arenas of a plan back.
define internal void @give_arenas(ptr %head, ptr %plan, i64 %count) {
entry:
  %arenas = call ptr @pointer(ptr %plan, i64 $plan.arenas)
  %call = call ptr @pointer(ptr %head, i64 $PyObject_CallOneArg)
  %decrement = call ptr @pointer(ptr %head, i64 $Py_DecRef)
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%k.next, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %done
body:
  %place = mul i64 %k, $arena.words
  %arena = getelementptr i64, ptr %arenas, i64 %place
  %give = call ptr @pointer(ptr %arena, i64 $arena.give)
  %taken = call ptr @pointer(ptr %arena, i64 $arena.at_hand)
  %answer = call ptr %call(ptr %give, ptr %taken)
  call void %decrement(ptr %taken)
  %failed = icmp eq ptr %answer, null
  br i1 %failed, label %next, label %answered
answered:
  call void %decrement(ptr %answer)
  br label %next
next:
  %k.next = add i64 %k, 1
  br label %loop
done:
  ret void
}

; Runs the program of a plan without the interpreter's lock.
define internal void @run(ptr %head, ptr %plan) {
entry:
  %main = call ptr @pointer(ptr %plan, i64 $plan.main)
  %buffers = call ptr @pointer(ptr %plan, i64 $plan.buffers)
  %sizes = call ptr @pointer(ptr %plan, i64 $plan.sizes)
  %wanted = call i64 @word(ptr %plan, i64 $plan.threads)
  %spins = call i64 @word(ptr %plan, i64 $plan.spins)
  %save = call ptr @pointer(ptr %head, i64 $PyEval_SaveThread)
  %restore = call ptr @pointer(ptr %head, i64 $PyEval_RestoreThread)
  %shares = call ptr @pointer(ptr %head, i64 $shares)
  %forked = call i64 @word(ptr %shares, i64 2)
  %single = icmp slt i64 %wanted, 2
  %child = icmp ne i64 %forked, 0
  %alone = or i1 %single, %child
  br i1 %alone, label %serial, label %several
serial:
  %state.serial = call ptr %save()
  call void %main(ptr %buffers, ptr %sizes, i64 1)
  call void %restore(ptr %state.serial)
  ret void
several:
  ; These words change under the lock only.
  %others = call i64 @word(ptr %shares, i64 0)
  %place = getelementptr i64, ptr %shares, i64 1
  %before = load i64, ptr %place
  %now = add i64 %before, 1
  store i64 %now, ptr %place
  %calls = add i64 %others, %now
  %share = udiv i64 %wanted, %calls
  %threads = call i64 @llvm.umax.i64(i64 %share, i64 1)
  %state = call ptr %save()
  call void @aicc_run(ptr %main, ptr %buffers, ptr %sizes, i64 %threads, i64 %spins)
  call void %restore(ptr %state)
  %left = load i64, ptr %place
  %less = sub i64 %left, 1
  store i64 %less, ptr %place
  ret void
}
declare i64 @llvm.umax.i64(i64, i64)

define ptr @aicc_python_call(ptr %self, ptr %given) {
entry:
  %head = call ptr @pointer(ptr %self, i64 $array.data)
  %none = call ptr @pointer(ptr %head, i64 $none)
  %busy = call i64 @word(ptr %head, i64 $busy)
  %free = icmp eq i64 %busy, 0
  %kind = call ptr @pointer(ptr %given, i64 1)
  %dict = call ptr @pointer(ptr %head, i64 $dict)
  %tuple = call ptr @pointer(ptr %head, i64 $tuple)
  %named = icmp eq ptr %kind, %dict
  %listed = icmp eq ptr %kind, %tuple
  %known = or i1 %named, %listed
  %possible = and i1 %free, %known
  br i1 %possible, label %measure, label %leave
measure:
  %dict.size = call ptr @pointer(ptr %head, i64 $PyDict_Size)
  %tuple.size = call ptr @pointer(ptr %head, i64 $PyTuple_Size)
  %size.of = select i1 %named, ptr %dict.size, ptr %tuple.size
  %size = call i64 %size.of(ptr %given)
  %inputs = call i64 @word(ptr %head, i64 $inputs)
  %all = icmp eq i64 %size, %inputs
  br i1 %all, label %collect, label %leave
collect:
  %busy.place = getelementptr i64, ptr %head, i64 $busy
  store i64 1, ptr %busy.place
  %names = call ptr @pointer(ptr %head, i64 $input_names)
  %held = call ptr @pointer(ptr %head, i64 $held)
  %array.type = call ptr @pointer(ptr %head, i64 $array)
  %get.name = call ptr @pointer(ptr %head, i64 $PyDict_GetItemWithError)
  %get.place = call ptr @pointer(ptr %head, i64 $PyTuple_GetItem)
  br label %fetch
fetch:
  %k = phi i64 [0, %collect], [%k.next, %array]
  %k.more = icmp slt i64 %k, %inputs
  br i1 %k.more, label %look, label %choose
look:
  br i1 %named, label %by.name, label %by.place
by.name:
  %name = call ptr @pointer(ptr %names, i64 %k)
  %item.named = call ptr %get.name(ptr %given, ptr %name)
  br label %found
by.place:
  %item.listed = call ptr %get.place(ptr %given, i64 %k)
  br label %found
found:
  %item = phi ptr [%item.named, %by.name], [%item.listed, %by.place]
  %missing = icmp eq ptr %item, null
  br i1 %missing, label %quit, label %check
check:
  call void @retain(ptr %head, ptr %item)
  call void @put(ptr %held, i64 %k, ptr %item)
  %k.next = add i64 %k, 1
  %type = call ptr @pointer(ptr %item, i64 1)
  %is.array = icmp eq ptr %type, %array.type
  br i1 %is.array, label %array, label %quit
array:
  %flags.place = getelementptr i64, ptr %item, i64 $array.flags
  %flags = load i32, ptr %flags.place
  %needed = and i32 %flags, $readable
  %readable = icmp eq i32 %needed, $readable
  br i1 %readable, label %fetch, label %quit
choose:
  %first = call ptr @pointer(ptr %head, i64 $plans)
  br label %try
try:
  %plan = phi ptr [%first, %choose], [%another, %differs]
  %ended = icmp eq ptr %plan, null
  br i1 %ended, label %quit, label %compare
compare:
  %expected = call ptr @pointer(ptr %plan, i64 $plan.inputs)
  br label %one
one:
  %c = phi i64 [0, %compare], [%c.next, %next.one]
  %c.more = icmp slt i64 %c, %inputs
  br i1 %c.more, label %compare.one, label %place
compare.one:
  %candidate = call ptr @pointer(ptr %held, i64 %c)
  %c.place = mul i64 %c, $input.words
  %c.input = getelementptr i64, ptr %expected, i64 %c.place
  %c.fits = call i1 @fits(ptr %candidate, ptr %c.input)
  br i1 %c.fits, label %next.one, label %differs
next.one:
  %c.next = add i64 %c, 1
  br label %one
differs:
  %another = call ptr @pointer(ptr %plan, i64 $plan.next)
  br label %try
place:
  %buffers = call ptr @pointer(ptr %plan, i64 $plan.buffers)
  br label %address
address:
  %h = phi i64 [0, %place], [%h.next, %place.input]
  %h.more = icmp slt i64 %h, %inputs
  br i1 %h.more, label %place.input, label %prepare
place.input:
  %object = call ptr @pointer(ptr %held, i64 %h)
  %data = call ptr @pointer(ptr %object, i64 $array.data)
  %h.place = mul i64 %h, $input.words
  %h.input = getelementptr i64, ptr %expected, i64 %h.place
  %h.slot = call i64 @word(ptr %h.input, i64 $input.slot)
  call void @put(ptr %buffers, i64 %h.slot, ptr %data)
  %h.next = add i64 %h, 1
  br label %address
prepare:
  %outputs = call i64 @word(ptr %head, i64 $outputs)
  %made = call ptr @pointer(ptr %head, i64 $made)
  %described = call ptr @pointer(ptr %plan, i64 $plan.outputs)
  br label %make
make:
  %m = phi i64 [0, %prepare], [%m.next, %place.output]
  %m.more = icmp slt i64 %m, %outputs
  br i1 %m.more, label %make.one, label %furnish
make.one:
  %m.place = mul i64 %m, $output.words
  %output = getelementptr i64, ptr %described, i64 %m.place
  %result = call ptr @fresh(ptr %head, ptr %output)
  %lacking = icmp eq ptr %result, null
  br i1 %lacking, label %undo, label %place.output
place.output:
  call void @put(ptr %made, i64 %m, ptr %result)
  %result.data = call ptr @pointer(ptr %result, i64 $array.data)
  %m.slot = call i64 @word(ptr %output, i64 $output.slot)
  call void @put(ptr %buffers, i64 %m.slot, ptr %result.data)
  %m.next = add i64 %m, 1
  br label %make
furnish:
  %count = call i64 @word(ptr %plan, i64 $plan.count)
  %arenas = call i64 @take_arenas(ptr %head, ptr %plan)
  %furnished = icmp eq i64 %arenas, %count
  br i1 %furnished, label %execute, label %return
return:
  call void @give_arenas(ptr %head, ptr %plan, i64 %arenas)
  br label %undo
undo:
  call void @drop(ptr %head, i64 $made, i64 %m)
  br label %quit
execute:
  %runs = call ptr @pointer(ptr %plan, i64 $plan.runs)
  %before = load i64, ptr %runs
  %counted = add i64 %before, 1
  store i64 %counted, ptr %runs
  call void @run(ptr %head, ptr %plan)
  call void @give_arenas(ptr %head, ptr %plan, i64 %count)
  call void @drop(ptr %head, i64 $held, i64 %inputs)
  br i1 %named, label %new.dict, label %new.tuple
new.dict:
  %dict.new = call ptr @pointer(ptr %head, i64 $PyDict_New)
  %results.dict = call ptr %dict.new()
  br label %fill
new.tuple:
  %tuple.new = call ptr @pointer(ptr %head, i64 $PyTuple_New)
  %results.tuple = call ptr %tuple.new(i64 %outputs)
  br label %fill
fill:
  %results = phi ptr [%results.dict, %new.dict], [%results.tuple, %new.tuple]
  %output.names = call ptr @pointer(ptr %head, i64 $output_names)
  %set.name = call ptr @pointer(ptr %head, i64 $PyDict_SetItem)
  %set.place = call ptr @pointer(ptr %head, i64 $PyTuple_SetItem)
  %no.room = icmp eq ptr %results, null
  br i1 %no.room, label %done, label %set
set:
  %s = phi i64 [0, %fill], [%s.next, %set.next]
  %s.more = icmp slt i64 %s, %outputs
  br i1 %s.more, label %set.one, label %done
set.one:
  %value = call ptr @pointer(ptr %made, i64 %s)
  br i1 %named, label %set.named, label %set.listed
set.named:
  %output.name = call ptr @pointer(ptr %output.names, i64 %s)
  %status.named = call i32 %set.name(ptr %results, ptr %output.name, ptr %value)
  br label %set.next
set.listed:
  ; It takes the reference.
  call void @retain(ptr %head, ptr %value)
  %status.listed = call i32 %set.place(ptr %results, i64 %s, ptr %value)
  br label %set.next
set.next:
  %status = phi i32 [%status.named, %set.named], [%status.listed, %set.listed]
  %s.next = add i64 %s, 1
  %worked = icmp eq i32 %status, 0
  br i1 %worked, label %set, label %lose
lose:
  %decrement = call ptr @pointer(ptr %head, i64 $Py_DecRef)
  call void %decrement(ptr %results)
  br label %done
done:
  %answer = phi ptr [%results, %set], [null, %fill], [null, %lose]
  call void @drop(ptr %head, i64 $made, i64 %outputs)
  store i64 0, ptr %busy.place
  ret ptr %answer
quit:
  %fetched = phi i64 [%k, %found], [%k.next, %check], [%k.next, %array], [%inputs, %try], [%inputs, %undo]
  call void @drop(ptr %head, i64 $held, i64 %fetched)
  %clear = call ptr @pointer(ptr %head, i64 $PyErr_Clear)
  call void %clear()
  store i64 0, ptr %busy.place
  br label %leave
leave:
  call void @retain(ptr %head, ptr %none)
  ret ptr %none
}
"""


@cache
def call_text() -> str:
    """The LLVM IR of `aicc_python_call`, for any machine."""
    names = {
        **{name: k for k, name in enumerate(FIELDS)},
        **{f"plan.{name}": k for k, name in enumerate(PLAN_FIELDS)},
        **{f"input.{name}": k for k, name in enumerate(INPUT_FIELDS)},
        **{f"output.{name}": k for k, name in enumerate(OUTPUT_FIELDS)},
        **{f"array.{name}": k for name, k in ARRAY.items()},
        **{f"arena.{name}": k for k, name in enumerate(ARENA_FIELDS)},
        "arena.words": len(ARENA_FIELDS),
        "input.words": len(INPUT_FIELDS),
        "output.words": len(OUTPUT_FIELDS),
        "readable": CONTIGUOUS | ALIGNED,
        "writable": CONTIGUOUS | ALIGNED | WRITABLE,
    }
    text = _TEXT
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(f"${name}", str(names[name]))
    assert "$" not in text
    return text
