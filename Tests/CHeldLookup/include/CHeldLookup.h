#pragma once
/* Stands in front of the C library's getaddrinfo, by which libcurl resolves names on threads of its own: names under
   .held.test are looked up for as long as a test wants, all others as ever. */

/// How many look-ups are held.
int wi_held_lookups(void);
/// Lets them go, and all later ones: the names are unknown.
void wi_release_lookups(void);
