/* What MLIR's language server writes, on its way to the editor: the server gets its own name, and
 * what it says of an operation under the pointer is followed by the operation's documentation,
 * which TableGen has and MLIR's server has not.
 *
 * The server's main is MLIR's and writes to standard output. A thread reads that through a pipe,
 * and passes everything else on as it is. */
#include "support/base/memory.h"
#include "support/base/version.h"
#include "support/text/text.h"

#include <cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The operations' documentation as TableGen writes it, one after the other (operations.c of the
 * build). */
extern const char sambaOperationDocuments[];

static int to_editor, from_server;
static pthread_t thread;

static void send(const char *data, size_t size) {
  while (size) {
    ssize_t written = write(to_editor, data, size);
    if (written <= 0)
      return;
    data += written;
    size -= (size_t)written;
  }
}

/* Up to what MLIR knows by itself (traits, types) or to the next operation. */
static size_t lengthOf(const char *document) {
  static const char *const ends[] = {"\nTraits: ", "\nInterfaces: ", "\n#### ", "\n### "};
  size_t length = strlen(document);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i) {
    const char *end = strstr(document, ends[i]);
    if (end && (size_t)(end - document) < length)
      length = (size_t)(end - document);
  }
  return length;
}

/* The part of the document that is headed by "### `samba.relu`"; empty: there is none. */
static SambaStringRef findDocument(SambaStringRef operation) {
  static const char mark[] = "\n### `";
  const char *at = sambaOperationDocuments;
  while ((at = strstr(at, mark))) {
    at += sizeof mark - 1;
    if (strncmp(at, operation.data, operation.size) != 0 || at[operation.size] != '`')
      continue;
    const char *start = strchr(at, '\n');
    if (start)
      return (SambaStringRef){start, lengthOf(start)};
  }
  return (SambaStringRef){"", 0};
}

/* The name of an operation of ours that the text names in quotes. */
static SambaStringRef operationIn(const char *text) {
  const char *samba = strstr(text, "\"samba."), *rdu = strstr(text, "\"rdu.");
  const char *at = samba && (!rdu || samba < rdu) ? samba : rdu;
  const char *end = at ? strchr(at + 1, '"') : NULL;
  return end ? (SambaStringRef){at + 1, (size_t)(end - at - 1)} : (SambaStringRef){"", 0};
}

/* False: the message stays as it is. */
static bool addDocument(cJSON *result) {
  cJSON *value = cJSON_GetObjectItem(cJSON_GetObjectItem(result, "contents"), "value");
  if (!cJSON_IsString(value))
    return false;
  SambaStringRef document = findDocument(operationIn(value->valuestring));
  if (!document.size)
    return false;
  SambaText text = {0};
  sambaTextFormat(&text, "%s\n\n---\n%.*s", value->valuestring, SAMBA_STRING_ARGS(document));
  cJSON_SetValuestring(value, sambaTextGet(&text));
  sambaTextFree(&text);
  return true;
}

static bool nameServer(cJSON *result) {
  cJSON *server = cJSON_GetObjectItem(result, "serverInfo");
  if (!cJSON_IsObject(server))
    return false;
  cJSON_ReplaceItemInObject(server, "name", cJSON_CreateString("samba-lsp-server"));
  cJSON_ReplaceItemInObject(server, "version", cJSON_CreateString(SAMBA_VERSION));
  return true;
}

static void sendMessage(SambaStringRef message) {
  cJSON *json = cJSON_ParseWithLength(message.data, message.size);
  cJSON *result = cJSON_GetObjectItem(json, "result");
  bool is_changed = json && (nameServer(result) || addDocument(result));
  char *text = is_changed ? cJSON_Print(json) : NULL;
  size_t size = text ? strlen(text) : message.size;
  char header[48];

  snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", size);
  send(header, strlen(header));
  send(text ? text : message.data, size);
  cJSON_free(text);
  cJSON_Delete(json);
}

/* Sends the whole messages at the start of the buffer; what is no message goes as it is. Returns
 * how much was taken. */
static size_t sendMessages(SambaStringRef buffer) {
  static const char length[] = "Content-Length: ";
  size_t at = 0;
  while (at < buffer.size) {
    SambaStringRef rest = {buffer.data + at, buffer.size - at};
    size_t known = rest.size < sizeof length - 1 ? rest.size : sizeof length - 1;
    if (memcmp(rest.data, length, known) != 0) {
      send(rest.data, rest.size);
      return buffer.size;
    }
    char *body = memmem(rest.data, rest.size, "\r\n\r\n", 4);
    if (!body)
      break;
    size_t header = (size_t)(body + 4 - rest.data);
    size_t size = strtoul(rest.data + sizeof length - 1, NULL, 10);
    if (rest.size - header < size)
      break;
    sendMessage((SambaStringRef){rest.data + header, size});
    at += header + size;
  }
  return at;
}

static void *relay(void *unused) {
  SambaText buffer = {0};
  char piece[4096];
  ssize_t size;
  (void)unused;
  while ((size = read(from_server, piece, sizeof piece)) > 0) {
    sambaTextAppend(&buffer, piece, (size_t)size);
    size_t taken = sendMessages((SambaStringRef){buffer.data, buffer.size});
    memmove(buffer.data, buffer.data + taken, buffer.size - taken);
    buffer.size -= taken;
  }
  send(buffer.data, buffer.size);
  sambaTextFree(&buffer);
  return NULL;
}

/* At the end: what the server has written is passed on. */
static void finishRelay(void) {
  fflush(stdout);
  close(STDOUT_FILENO);
  pthread_join(thread, NULL);
}

/* MLIR's main is not asked for anything: the relay starts with the program. */
__attribute__((constructor)) static void startRelay(void) {
  int ends[2];
  to_editor = dup(STDOUT_FILENO);
  if (to_editor < 0 || pipe(ends) != 0)
    return;
  from_server = ends[0];
  if (pthread_create(&thread, NULL, relay, NULL) != 0)
    return;
  dup2(ends[1], STDOUT_FILENO);
  close(ends[1]);
  atexit(finishRelay);
}
