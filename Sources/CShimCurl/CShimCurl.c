#define _GNU_SOURCE
#include "CShimCurl.h"
#include <arpa/inet.h>
#include <errno.h>
#include <locale.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include "CShimSystem.h"
#if __has_include(<xlocale.h>)
/* macOS declares `newlocale` and `uselocale` here. */
#include <xlocale.h>
#endif

_Static_assert(WI_CURL_PAUSE == CURL_WRITEFUNC_PAUSE, "the pause value changed");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode initialised = CURLE_FAILED_INIT;

static void initialise(void) { initialised = curl_global_init(CURL_GLOBAL_ALL); }

int wi_curl_initialise(void) {
    pthread_once(&once, initialise);
    return (int)initialised;
}

CURLcode wi_curl_set_number(CURL *easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }

CURLcode wi_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode wi_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode wi_curl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {.data = (void *)(uintptr_t)bytes, .len = count, .flags = CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

CURLcode wi_curl_set_body(CURL *easy, const void *bytes, size_t count) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return result ? result : curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, count ? bytes : "");
}

CURLMcode wi_curl_set_multi_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static int address_text(const struct sockaddr *address, char *text, socklen_t capacity) {
    const void *bytes = NULL;
    if (address->sa_family == AF_INET) bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
    if (address->sa_family == AF_INET6) bytes = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    return bytes && inet_ntop(address->sa_family, bytes, text, capacity) ? 0 : -1;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    wi_curl_hooks *hooks = context;
    char text[INET6_ADDRSTRLEN + 1] = {0};
    if (purpose == CURLSOCKTYPE_IPCXN && hooks->address) {
        /* An address of a family that the policy does not know is not allowed. */
        if (address_text(&address->addr, text, sizeof text) != 0) return CURL_SOCKET_BAD;
        if (!hooks->address(text, hooks->context)) return CURL_SOCKET_BAD;
    }
    curl_socket_t opened = wi_socket(address->family, address->socktype, address->protocol);
    if (opened < 0) hooks->socket_error = errno;
    return opened;
}

static int before_request(void *context, char *remote, char *local, int remote_port, int local_port) {
    wi_curl_hooks *hooks = context;
    (void)local;
    (void)remote_port;
    (void)local_port;
    return hooks->ready(remote, hooks->context) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

CURLcode wi_curl_set_hooks(CURL *easy, wi_curl_hooks *hooks) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_PRIVATE, hooks);
    if (!result) result = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, hooks->head);
    if (!result) result = curl_easy_setopt(easy, CURLOPT_HEADERDATA, hooks);
    if (!result) result = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, hooks->body);
    if (!result) result = curl_easy_setopt(easy, CURLOPT_WRITEDATA, hooks);
    if (!result) result = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
    if (!result) result = curl_easy_setopt(easy, CURLOPT_PREREQDATA, hooks);
    /* Sockets are opened here even without a policy, so that child processes inherit none. */
    if (!result) result = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    if (!result) result = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, hooks);
    return result;
}

long wi_curl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

int64_t wi_curl_microseconds(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

const char *wi_curl_text(CURL *easy, CURLINFO info) {
    char *value = NULL;
    curl_easy_getinfo(easy, info, &value);
    return value;
}

void *wi_curl_next_done(CURLM *multi, CURLcode *result) {
    CURLMsg *message;
    int left = 0;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        char *hooks = NULL;
        *result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &hooks);
        return ((wi_curl_hooks *)(void *)hooks)->context;
    }
    return NULL;
}

#if LIBCURL_VERSION_NUM >= 0x075800
static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t utf8;

static void make_locale(void) {
    utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!utf8) utf8 = newlocale(LC_CTYPE_MASK, "en_US.UTF-8", (locale_t)0);
}

char *wi_curl_ascii_host(const char *host) {
    /* libidn2 expects the name in the locale's encoding, which is ASCII in a program that never sets a locale. */
    pthread_once(&locale_once, make_locale);
    CURLU *url = utf8 ? curl_url() : NULL;
    if (!url) return NULL;
    char *ascii = NULL;
    locale_t before = uselocale(utf8);
    if (curl_url_set(url, CURLUPART_HOST, host, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_HOST, &ascii, CURLU_PUNYCODE) != CURLUE_OK)
        ascii = NULL;
    uselocale(before);
    curl_url_cleanup(url);
    return ascii;
}
#else
char *wi_curl_ascii_host(const char *host) {
    (void)host;
    return NULL;
}
#endif

void wi_curl_mask_sigpipe(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}
