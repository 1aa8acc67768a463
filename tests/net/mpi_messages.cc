// MPI's functions for messages and requests. Without a communicator, errors go to MPI_COMM_WORLD, as in MPICH.
#include <mpi.h>

#include <algorithm>

#include "tests/net/world.h"

using namespace quadrille::net;  // NOLINT(google-build-using-namespace): functions outside any

namespace {

Request request_of(bool receives, const void* buffer, int count, MPI_Datatype type, int peer,
                   int tag, MPI_Comm comm) {
  Request request;
  request.receives = receives;
  request.data = {reinterpret_cast<uintptr_t>(buffer), count, type_of(type)};
  request.peer = peer;
  request.tag = tag;
  request.comm = comm;
  if (request.data.type && !is_committed(type)) problem("a datatype is used that is not committed");
  return request;
}

int send(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
         MPI_Request* handle, bool is_synchronous, bool is_persistent) {
  Request request = request_of(false, buffer, count, type, peer, tag, comm);
  request.is_synchronous = is_synchronous;
  request.is_persistent = is_persistent;
  return post(request, handle);
}

// Ends a blocking call. The communicator gets its errors.
int finish_in(MPI_Comm comm, MPI_Request* handle, MPI_Status* status) {
  const Request* const request = find_request(*handle);
  if (!request) return MPI_ERR_REQUEST;
  wait_until([request] { return request->is_complete; }, text_of(*request));
  const int code = finish(handle, status);
  return code == MPI_SUCCESS ? code : raise(comm, code);
}

// Returns the indices of the completed requests in an array. Null and inactive requests do not count.
std::vector<int> complete_ones(int count, const MPI_Request* handles, bool* is_any_active) {
  std::vector<int> complete;
  *is_any_active = false;
  for (int i = 0; i < count; ++i) {
    if (handles[i] == MPI_REQUEST_NULL) continue;
    const Request* const request = find_request(handles[i]);
    if (!request || !request->is_active) continue;
    *is_any_active = true;
    if (request->is_complete) complete.push_back(i);
  }
  return complete;
}

// Waits until one of the requests is complete. Returns false if none is active.
bool wait_for_some(int count, const MPI_Request* handles) {
  std::vector<const Request*> requests;
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (handles[i] == MPI_REQUEST_NULL) continue;
    const Request* const request = find_request(handles[i]);
    if (!request || !request->is_active) continue;
    text += (requests.empty() ? "" : ", or for ") + text_of(*request);
    requests.push_back(request);
  }
  if (requests.empty()) return false;
  wait_until([requests] { return std::ranges::any_of(requests, &Request::is_complete); }, text);
  return true;
}

MPI_Status* status_at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

int raise_in_world(int code) { return code == MPI_SUCCESS ? code : raise(MPI_COMM_WORLD, code); }

void set_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  status->MPI_ERROR = MPI_SUCCESS;
  status->count_lo = status->count_hi_and_cancelled = 0;
}

}  // namespace

namespace quadrille::net {

int finish(MPI_Request* handle, MPI_Status* status) {
  Request* const request = find_request(*handle);
  if (!request) return MPI_ERR_REQUEST;
  if (!request->receives && request->data.packed() != request->before)
    problem("the buffer of a " + text_of(*request) + " changed before it was over");
  std::erase(world->current().active, request);
  request->is_active = false;
  set_empty(status);
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = request->status_source;
    status->MPI_TAG = request->status_tag;
    status->MPI_ERROR = request->error;
    status->count_lo = static_cast<int>(request->arrived);
  }
  if (!request->is_persistent) {
    request->is_freed = true;
    *handle = MPI_REQUEST_NULL;
  }
  return request->error;
}

}  // namespace quadrille::net

extern "C" {

SIMULATED(Isend, const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
          MPI_Request* handle) {
  return send(buffer, count, type, peer, tag, comm, handle, false, false);
}

SIMULATED(Issend, const void* buffer, int count, MPI_Datatype type, int peer, int tag,
          MPI_Comm comm, MPI_Request* handle) {
  return send(buffer, count, type, peer, tag, comm, handle, true, false);
}

SIMULATED(Irecv, void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
          MPI_Request* handle) {
  return post(request_of(true, buffer, count, type, peer, tag, comm), handle);
}

SIMULATED(Send_init, const void* buffer, int count, MPI_Datatype type, int peer, int tag,
          MPI_Comm comm, MPI_Request* handle) {
  return send(buffer, count, type, peer, tag, comm, handle, false, true);
}

SIMULATED(Recv_init, void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
          MPI_Request* handle) {
  Request request = request_of(true, buffer, count, type, peer, tag, comm);
  request.is_persistent = true;
  return post(request, handle);
}

SIMULATED(Start, MPI_Request* handle) {
  Request* const request = find_request(*handle);
  if (!request || !request->is_persistent || request->is_active) {
    problem("a request is started that is not persistent, or is under way");
    return MPI_ERR_REQUEST;
  }
  start(*request);
  maybe_pause();
  return MPI_SUCCESS;
}

SIMULATED(Send, const void* buffer, int count, MPI_Datatype type, int peer, int tag,
          MPI_Comm comm) {
  MPI_Request handle;
  const int code = PMPI_Isend(buffer, count, type, peer, tag, comm, &handle);
  return code == MPI_SUCCESS ? finish_in(comm, &handle, MPI_STATUS_IGNORE) : code;
}

SIMULATED(Ssend, const void* buffer, int count, MPI_Datatype type, int peer, int tag,
          MPI_Comm comm) {
  MPI_Request handle;
  const int code = PMPI_Issend(buffer, count, type, peer, tag, comm, &handle);
  return code == MPI_SUCCESS ? finish_in(comm, &handle, MPI_STATUS_IGNORE) : code;
}

SIMULATED(Recv, void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
          MPI_Status* status) {
  MPI_Request handle;
  const int code = PMPI_Irecv(buffer, count, type, peer, tag, comm, &handle);
  return code == MPI_SUCCESS ? finish_in(comm, &handle, status) : code;
}

SIMULATED(Sendrecv, const void* out, int out_count, MPI_Datatype out_type, int target, int out_tag,
          void* in, int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
          MPI_Status* status) {
  MPI_Request receive, sent;
  int code = PMPI_Irecv(in, in_count, in_type, source, in_tag, comm, &receive);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Isend(out, out_count, out_type, target, out_tag, comm, &sent);
  if (code != MPI_SUCCESS) return code;
  code = finish_in(comm, &sent, MPI_STATUS_IGNORE);
  const int received = finish_in(comm, &receive, status);
  return code == MPI_SUCCESS ? received : code;
}

SIMULATED(Wait, MPI_Request* handle, MPI_Status* status) {
  if (*handle == MPI_REQUEST_NULL || !wait_for_some(1, handle)) {
    set_empty(status);
    return MPI_SUCCESS;
  }
  return raise_in_world(finish(handle, status));
}

SIMULATED(Waitany, int count, MPI_Request* handles, int* index, MPI_Status* status) {
  bool is_any_active = false;
  *index = MPI_UNDEFINED;
  set_empty(status);
  if (!wait_for_some(count, handles)) return MPI_SUCCESS;
  const std::vector<int> complete = complete_ones(count, handles, &is_any_active);
  *index = complete[world->random() % complete.size()];
  return raise_in_world(finish(&handles[*index], status));
}

SIMULATED(Waitall, int count, MPI_Request* handles, MPI_Status* statuses) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) {
    if (status_at(statuses, i) != MPI_STATUS_IGNORE) set_empty(status_at(statuses, i));
    if (wait_for_some(1, &handles[i])) all.push_back(i);
  }
  int code = MPI_SUCCESS;
  for (const int i : all) {
    MPI_Status* const status = status_at(statuses, i);
    const int own = finish(&handles[i], status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = own;
    if (own != MPI_SUCCESS) code = MPI_ERR_IN_STATUS;
  }
  return raise_in_world(code);
}

SIMULATED(Testany, int count, MPI_Request* handles, int* index, int* flag, MPI_Status* status) {
  bool is_any_active = false;
  maybe_pause();
  const std::vector<int> complete = complete_ones(count, handles, &is_any_active);
  *index = MPI_UNDEFINED;
  *flag = !is_any_active || !complete.empty();
  set_empty(status);
  if (complete.empty()) return MPI_SUCCESS;
  *index = complete[world->random() % complete.size()];
  return raise_in_world(finish(&handles[*index], status));
}

// If the request is not complete, a second call waits until another request is.
SIMULATED(Request_get_status, MPI_Request handle, int* flag, MPI_Status* status) {
  Request* const request = find_request(handle);
  const std::vector<Request*>& active = world->current().active;
  const auto complete = [&active] { return std::ranges::count_if(active, &Request::is_complete); };
  const int64_t before = complete();
  maybe_pause();
  if (request->is_active && !request->is_complete && request->asked == before)
    wait_until([complete, before] { return complete() != before; }, text_of(*request));
  request->asked = complete();
  *flag = !request->is_active || request->is_complete;
  set_empty(status);
  return MPI_SUCCESS;
}

SIMULATED(Request_free, MPI_Request* handle) {
  Request* const request = find_request(*handle);
  if (!request) return MPI_ERR_REQUEST;
  if (request->is_active && !request->is_complete)
    problem("the request of a " + text_of(*request) + " is freed while it is under way");
  request->is_freed = true;
  std::erase(world->current().active, request);
  *handle = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

SIMULATED(Get_count, const MPI_Status* status, MPI_Datatype handle, int* count) {
  const TypeRef type = type_of(handle);
  if (!type) return MPI_ERR_TYPE;
  *count = type->size == 0 ? 0 : static_cast<int>(status->count_lo / type->size);
  if (type->size > 0 && status->count_lo % type->size != 0) *count = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // extern "C"
