" Syntax of listings of samba-objdump. Made by support/scripts/make-syntax.
if exists("b:current_syntax")
  finish
endif
syntax keyword sambaRecord argin binding buffer call compute depend dim formal graph header
syntax keyword sambaRecord image input layer load machine option output owner parameter placement
syntax keyword sambaRecord region section store stream symbol unit
highlight default link sambaRecord Statement
syntax keyword sambaField address ags alignment argin bindings block_bytes block_step bytes call call_count
syntax keyword sambaField code default_value depends device device_dtype dims dtype estimated_cycles estimated_read_bytes estimated_write_bytes
syntax keyword sambaField first_call flags formal formals grad_symbol graph group host_dtype image init
syntax keyword sambaField init_bytes init_checksum init_dtype init_file init_offset init_value inputs key kind last_call
syntax keyword sambaField layer layers layout location major mapping master maximum memory memory_requested
syntax keyword sambaField minimum minor mode name naming offset outputs owners parameters part_of
syntax keyword sambaField pcus placements pmus producer reason region section size source symbol
syntax keyword sambaField trace trace_digest type unit units update_of value
highlight default link sambaField Identifier
syntax keyword sambaPort input output guard vector scalar control
highlight default link sambaPort Type
syntax keyword sambaLane abs add and argin atan ceil const cos counter div
syntax keyword sambaLane eq erf exp expm1 float_to_int floor fma ge gt int_resize
syntax keyword sambaLane int_to_float le log log1p lt mac mac_on max min move
syntax keyword sambaLane mul ne neg or pow reduce_add reduce_and reduce_max reduce_min reduce_mul
syntax keyword sambaLane reduce_or rem roundeven rsqrt select shl shra shrl sin sqrt
syntax keyword sambaLane sub tanh to_bf16 to_f16 trunc wrap xor
highlight default link sambaLane Function
syntax keyword sambaDtype f32 bf16 f16 i1 i8 ui8 i16 i32 i64
highlight default link sambaDtype Type
syntax region sambaString start=/"/ skip=/\\"/ end=/"/
syntax match sambaComment /#.*$/
syntax match sambaValue /%\d\+/
syntax match sambaNumber /\<-\?\(0x\x\+\|\d\+\)\>/
highlight default link sambaString String
highlight default link sambaComment Comment
highlight default link sambaValue Special
highlight default link sambaNumber Number
let b:current_syntax = "samba"
