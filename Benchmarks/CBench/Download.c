#include "CBench.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

/* The least that a download can cost: libcurl's multi handle in one thread, with reused easy handles. Bodies are counted and
 * discarded. */

static size_t drop(char *bytes, size_t one, size_t count, void *context) {
    (void)bytes;
    *(long *)context += (long)(one * count);
    return one * count;
}

/* Makes the same requests as the downloader: each for another URL, with the downloader's header fields. */
static void ask_like_the_downloader(CURL *easy, const char *url, int number, struct curl_slist *fields) {
    char text[256];
    snprintf(text, sizeof text, "%s?%d", url, number);
    curl_easy_setopt(easy, CURLOPT_URL, text);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
}

long cb_download(const char *url, int count, int concurrent, int asks_like_the_downloader) {
    CURLM *multi = curl_multi_init();
    CURL **handles = calloc((size_t)concurrent, sizeof *handles);
    long received = 0;
    int started = 0, running = 0;
    struct curl_slist *fields = NULL;
    fields = curl_slist_append(fields, "Accept-Encoding: identity");
    fields = curl_slist_append(fields, "User-Agent: webimage/0.1 (Linux)");
    fields = curl_slist_append(fields, "Accept: image/*,*/*;q=0.8");
    if (!multi || !handles) return -1;
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)concurrent);
    for (; started < concurrent && started < count; started++) {
        CURL *easy = handles[started] = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &received);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 65536L);
        if (asks_like_the_downloader) ask_like_the_downloader(easy, url, started, fields);
        curl_multi_add_handle(multi, easy);
    }
    do {
        CURLMsg *message;
        int left;
        curl_multi_perform(multi, &running);
        while ((message = curl_multi_info_read(multi, &left))) {
            CURL *easy = message->easy_handle;
            curl_multi_remove_handle(multi, easy);
            if (started < count) {
                started++;
                if (asks_like_the_downloader) ask_like_the_downloader(easy, url, started, fields);
                curl_multi_add_handle(multi, easy);
                running++;
            }
        }
        if (running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    } while (running);
    for (int i = 0; i < concurrent; i++) {
        if (handles[i]) curl_easy_cleanup(handles[i]);
    }
    free(handles);
    curl_slist_free_all(fields);
    curl_multi_cleanup(multi);
    return received;
}
