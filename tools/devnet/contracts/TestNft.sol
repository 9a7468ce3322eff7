// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// @title An NFT collection that anyone may mint from
contract TestNft is ERC721 {
    constructor() ERC721("Tollgate Test NFT", "TNFT") {}

    /// @notice Creates a token, for anyone.
    /// @param to The recipient.
    /// @param tokenId Its number, which must be free.
    function mint(address to, uint256 tokenId) public {
        _mint(to, tokenId);
    }
}
