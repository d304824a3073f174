#include "CErrandCurl.h"

#include <fcntl.h>

int curl_easy_setopt(CURL *easy, int option, ...);
int curl_easy_getinfo(CURL *easy, int info, ...);

int errand_curl_set_number(CURL *easy, int option, long value) { return curl_easy_setopt(easy, option, value); }

int errand_curl_set_size(CURL *easy, int option, int64_t value) { return curl_easy_setopt(easy, option, value); }

int errand_curl_set_text(CURL *easy, int option, const char *value) { return curl_easy_setopt(easy, option, value); }

int errand_curl_set_pointer(CURL *easy, int option, void *value) { return curl_easy_setopt(easy, option, value); }

int errand_curl_set_callback(CURL *easy, int option, errand_curl_callback value) {
  return curl_easy_setopt(easy, option, value);
}

static int close_on_exec(void *context, int socket, int purpose) {
  (void)context;
  (void)purpose;
  return fcntl(socket, F_SETFD, FD_CLOEXEC) == 0 ? 0 : 1;
}

int errand_curl_set_close_on_exec(CURL *easy) {
  return curl_easy_setopt(easy, ERRAND_CURL_SOCKOPTFUNCTION, close_on_exec);
}

long errand_curl_number(CURL *easy, int info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == 0 ? value : 0;
}

int64_t errand_curl_time(CURL *easy, int info) {
  int64_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == 0 ? value : 0;
}
