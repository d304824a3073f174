#ifndef CERRAND_CURL_H
#define CERRAND_CURL_H

#include <stddef.h>
#include <stdint.h>

// The part of libcurl that ErrandHTTP uses. libcurl itself is on every machine that runs Foundation's networking, which
// links it as well; its headers are a package of their own, and its binary interface (libcurl.so.4) does not change.
// So these are its own declarations and numbers, from <curl/curl.h> and <curl/multi.h>.

typedef void CURL;
typedef void CURLM;

struct curl_slist {
  char *data;
  struct curl_slist *next;
};

typedef struct CURLMsg {
  int msg;
  CURL *easy_handle;
  union {
    void *whatever;
    int result;
  } data;
} CURLMsg;

typedef size_t (*errand_curl_callback)(char *bytes, size_t size, size_t count, void *context);

int curl_global_init(long flags);
const char *curl_easy_strerror(int code);
CURL *curl_easy_init(void);
void curl_easy_cleanup(CURL *easy);
struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text);
void curl_slist_free_all(struct curl_slist *list);
CURLM *curl_multi_init(void);
int curl_multi_add_handle(CURLM *multi, CURL *easy);
int curl_multi_remove_handle(CURLM *multi, CURL *easy);
int curl_multi_perform(CURLM *multi, int *running);
int curl_multi_poll(CURLM *multi, void *extra, unsigned int extra_count, int timeout_ms, int *ready);
int curl_multi_wakeup(CURLM *multi);
CURLMsg *curl_multi_info_read(CURLM *multi, int *left);

enum { ERRAND_CURL_GLOBAL_ALL = 3, ERRAND_CURL_MESSAGE_DONE = 1, ERRAND_CURL_ERROR_SIZE = 256 };

enum {
  ERRAND_CURL_POST = 47,
  ERRAND_CURL_FRESH_CONNECT = 74,
  ERRAND_CURL_FORBID_REUSE = 75,
  ERRAND_CURL_HTTP_VERSION = 84,
  ERRAND_CURL_NOSIGNAL = 99,
  ERRAND_CURL_IGNORE_CONTENT_LENGTH = 136,
  ERRAND_CURL_TIMEOUT_MS = 155,
  ERRAND_CURL_CONNECTTIMEOUT_MS = 156,
  ERRAND_CURL_PROTOCOLS = 181,
  ERRAND_CURL_PATH_AS_IS = 234,
  ERRAND_CURL_SUPPRESS_CONNECT_HEADERS = 265,
  ERRAND_CURL_HTTP09_ALLOWED = 285,
  ERRAND_CURL_QUICK_EXIT = 322,
  ERRAND_CURL_WRITEDATA = 10001,
  ERRAND_CURL_URL = 10002,
  ERRAND_CURL_READDATA = 10009,
  ERRAND_CURL_ERRORBUFFER = 10010,
  ERRAND_CURL_HTTPHEADER = 10023,
  ERRAND_CURL_HEADERDATA = 10029,
  ERRAND_CURL_CUSTOMREQUEST = 10036,
  ERRAND_CURL_WRITEFUNCTION = 20011,
  ERRAND_CURL_READFUNCTION = 20012,
  ERRAND_CURL_HEADERFUNCTION = 20079,
  ERRAND_CURL_SOCKOPTFUNCTION = 20148,
  ERRAND_CURL_POSTFIELDSIZE_LARGE = 30120,
};

enum {
  ERRAND_CURL_OS_ERRNO = 0x200019,
  ERRAND_CURL_PRETRANSFER_TIME_T = 0x600035,
};

enum {
  ERRAND_CURLE_URL_MALFORMAT = 3,
  ERRAND_CURLE_COULDNT_RESOLVE_PROXY = 5,
  ERRAND_CURLE_COULDNT_RESOLVE_HOST = 6,
  ERRAND_CURLE_COULDNT_CONNECT = 7,
  ERRAND_CURLE_PARTIAL_FILE = 18,
  ERRAND_CURLE_OUT_OF_MEMORY = 27,
  ERRAND_CURLE_OPERATION_TIMEDOUT = 28,
  ERRAND_CURLE_SSL_CONNECT_ERROR = 35,
  ERRAND_CURLE_BAD_FUNCTION_ARGUMENT = 43,
  ERRAND_CURLE_GOT_NOTHING = 52,
  ERRAND_CURLE_SEND_ERROR = 55,
  ERRAND_CURLE_RECV_ERROR = 56,
  ERRAND_CURLE_PEER_FAILED_VERIFICATION = 60,
  ERRAND_CURLE_SEND_FAIL_REWIND = 65,
  ERRAND_CURLE_SSL_CACERT_BADFILE = 77,
  ERRAND_CURLE_PROXY = 97,
};

// `curl_easy_setopt` and its kind take any number of arguments of any type, which Swift cannot call. Each of these sets
// an option of the type in its name and returns libcurl's code, 0 for success.
int errand_curl_set_number(CURL *easy, int option, long value);
int errand_curl_set_size(CURL *easy, int option, int64_t value);
int errand_curl_set_text(CURL *easy, int option, const char *value);
int errand_curl_set_pointer(CURL *easy, int option, void *value);
int errand_curl_set_callback(CURL *easy, int option, errand_curl_callback value);
/// Has the sockets of a transfer closed in programs that the process starts.
int errand_curl_set_close_on_exec(CURL *easy);

/// A number that libcurl knows of a transfer, 0 if it does not.
long errand_curl_number(CURL *easy, int info);
/// A time in microseconds that libcurl knows of a transfer, 0 if it does not.
int64_t errand_curl_time(CURL *easy, int info);

#endif
