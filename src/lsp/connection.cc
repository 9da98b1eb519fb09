#include "lsp/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace weir::lsp {

Connection::Connection(int input, int output) : input_(input), output_(output) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
    wake_read_ = ends[0];
    wake_write_ = ends[1];
  } else {
    is_over_ = true;
  }
}

Connection::~Connection() {
  for (const int end : {wake_read_, wake_write_})
    if (end >= 0) ::close(end);
}

void Connection::wait(int milliseconds) {
  std::array<pollfd, 2> ends{pollfd{input_, POLLIN, 0}, pollfd{wake_read_, POLLIN, 0}};
  if (::poll(ends.data(), ends.size(), milliseconds) < 0) {
    is_over_ = is_over_ || errno != EINTR;
    return;
  }
  std::array<char, 65536> bytes{};
  if (ends[1].revents != 0)
    while (::read(wake_read_, bytes.data(), bytes.size()) > 0) {
    }
  if (ends[0].revents == 0) return;
  const ssize_t count = ::read(input_, bytes.data(), bytes.size());
  if (count > 0)
    frames_.feed({bytes.data(), static_cast<std::size_t>(count)});
  else
    is_over_ = is_over_ || count == 0 || (errno != EINTR && errno != EAGAIN);
}

void Connection::wake() {
  // A full pipe wakes as well.
  [[maybe_unused]] const ssize_t written = ::write(wake_write_, "w", 1);
}

void Connection::notify(const char* method, nlohmann::json params) {
  send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

void Connection::answer(const nlohmann::json& id, nlohmann::json result) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Connection::refuse(const nlohmann::json& id, const Refusal& refusal) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", refusal.code}, {"message", refusal.message}}}});
}

void Connection::request(const char* method, nlohmann::json params) {
  send({{"jsonrpc", "2.0"},
        {"id", "weir/" + std::to_string(++requests_)},
        {"method", method},
        {"params", std::move(params)}});
}

void Connection::send(const nlohmann::json& message) {
  // Text of a file that is no UTF-8 must not stop the server.
  const std::string bytes = framed(message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  for (std::size_t sent = 0; sent < bytes.size() && !is_over_;) {
    const ssize_t count = ::write(output_, bytes.data() + sent, bytes.size() - sent);
    if (count > 0)
      sent += static_cast<std::size_t>(count);
    else
      is_over_ = errno != EINTR;
  }
}

}  // namespace weir::lsp
