#include "lsp/framing.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::lsp {
namespace {

// Feeds in pieces of `size` bytes: "{}" for a body, "!" for a bad header, "+" for one that was too large.
std::vector<std::string> read(const std::string& bytes, std::size_t size, std::uint64_t largest = 100) {
  Framing framing(largest);
  std::vector<std::string> found;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    framing.feed(std::string_view(bytes).substr(at, size));
    while (const auto frame = framing.next())
      found.push_back(frame->kind == Frame::Kind::Body        ? frame->body
                      : frame->kind == Frame::Kind::BadHeader ? "!"
                                                              : "+");
  }
  return found;
}

TEST(Framing, MessagesAreFoundHoweverTheBytesAreCut) {
  const std::string bytes =
      framed("{\"a\":1}") + framed("") + "Content-Type: x\r\ncontent-LENGTH:  3 \r\n\r\nabc\r\n" + framed("é");
  for (std::size_t size = 1; size < bytes.size(); ++size)
    EXPECT_EQ(read(bytes, size), (std::vector<std::string>{"{\"a\":1}", "", "abc", "é"})) << size;
}

TEST(Framing, AfterABrokenHeaderTheNextMessageIsFound) {
  for (const std::string broken :
       {"Content-Length: x\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length: 1e3\r\n\r\n",
        "Content-Length: 99999999999999999999999\r\n\r\n", "nonsense\r\n\r\n"})
    for (const std::size_t size : {1U, 7U, 1000U})
      EXPECT_EQ(read(broken + framed("{}"), size), (std::vector<std::string>{"!", "{}"})) << broken;
  EXPECT_EQ(read("left over" + framed("{}"), 1000), (std::vector<std::string>{"{}"}));
}

TEST(Framing, ABodyThatIsTooLargeIsSkippedWithoutBeingKept) {
  const std::string bytes = framed(std::string(101, 'x')) + framed("{}");
  for (const std::size_t size : {1U, 30U, 1000U}) EXPECT_EQ(read(bytes, size), (std::vector<std::string>{"+", "{}"}));
}

TEST(Framing, BytesWithoutLinesDoNotFillTheMemory) {
  Framing framing;
  for (int i = 0; i < 1000; ++i) {
    framing.feed(std::string(5000, 'x'));
    EXPECT_FALSE(framing.next());
  }
  framing.feed("\n" + framed("{}"));
  const auto said = framing.next();
  ASSERT_TRUE(said);
  EXPECT_EQ(said->kind, Frame::Kind::BadHeader);
  const auto frame = framing.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->body, "{}");
}

}  // namespace
}  // namespace weir::lsp
