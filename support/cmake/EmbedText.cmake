# cmake -DINPUTS=a;b -DOUTPUT=file.c -DNAME=name -P EmbedText.cmake: the files, one after the other,
# as the string `const char name[]` of a C file.
set(bytes "")
foreach(input ${INPUTS})
  file(READ ${input} hex HEX)
  string(APPEND bytes "${hex}")
endforeach()
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,){16})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = {${bytes}0};\n")
