// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title A way to pay by signature that the product does not know
/// @notice A payer that has approved this contract signs a pledge; whoever sends it has the tokens moved. The specs register
/// it as a method of their own.
contract Pledges {
    struct Pledge {
        address token;
        address payer;
        address payee;
        uint256 amount;
        uint256 end;
        bytes32 nonce;
    }

    bytes32 public constant PLEDGE_TYPEHASH =
        keccak256("Pledge(address token,address payer,address payee,uint256 amount,uint256 end,bytes32 nonce)");
    bytes32 public constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");

    /// @notice Whether a payer's nonce is used, by a payment or by taking it back.
    mapping(address payer => mapping(bytes32 nonce => bool)) public isKept;

    /// @notice The tokens were moved; the token's own log comes directly before.
    event Kept(address indexed payer, bytes32 indexed nonce);

    /// @notice The payer has taken the pledge back.
    event Dropped(address indexed payer, bytes32 indexed nonce);

    function drop(bytes32 nonce) external {
        require(!isKept[msg.sender][nonce], "the nonce is used");
        isKept[msg.sender][nonce] = true;
        emit Dropped(msg.sender, nonce);
    }

    function keep(Pledge calldata pledge, uint8 v, bytes32 r, bytes32 s) external {
        require(block.timestamp < pledge.end, "the pledge is over");
        require(!isKept[pledge.payer][pledge.nonce], "the nonce is used");
        isKept[pledge.payer][pledge.nonce] = true;
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPEHASH, keccak256("Pledges"), block.chainid, address(this)));
        bytes32 content = keccak256(abi.encode(PLEDGE_TYPEHASH, pledge));
        require(ecrecover(keccak256(abi.encodePacked("\x19\x01", domain, content)), v, r, s) == pledge.payer, "not signed");
        require(IERC20(pledge.token).transferFrom(pledge.payer, pledge.payee, pledge.amount), "not moved");
        emit Kept(pledge.payer, pledge.nonce);
    }
}
